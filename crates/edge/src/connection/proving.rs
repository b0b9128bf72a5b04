//! How a peer proves that it is paired, after the hub has: greeting, challenge, proof.
//!
//! Asks `guard` and remembers one challenge between the two answers. A peer that must prove itself
//! gets nowhere without; one that need not may. The files are read on threads that may wait.

use std::sync::atomic::Ordering;

use guard::{
    Pairings,
    pairing::{Challenge, Refusal},
};
use model::{Carriage, CloseReason, Closing, Greeting, Hello, InstanceId, ToBrowser};

use crate::{
    Edge,
    gate::{Grant, Pass},
};

/// How far one connection is with its proof.
pub struct Proving<'a> {
    edge: &'a Edge,
    pass: &'a Pass,
    /// The instance id from the address, where one was given.
    instance: Option<&'a InstanceId>,
    // Boxed: it is a part of every connection's task, and hardly ever there.
    challenge: Option<Box<Challenge>>,
    /// Whose page it is, where somebody carries it.
    carried: Option<Box<Carriage>>,
    /// How often browsers had been unpaired when this one's proof was looked at.
    proven_at: Option<u64>,
}

impl<'a> Proving<'a> {
    /// Begins; nothing was said.
    pub fn new(edge: &'a Edge, pass: &'a Pass, instance: Option<&'a InstanceId>) -> Self {
        Self { edge, pass, instance, challenge: None, carried: None, proven_at: None }
    }

    /// Takes an introduction without a proof.
    pub fn hello(&self) -> Result<(), Closing> {
        match self.pass.grant.must_prove() {
            true => Err(self.refuse(None, &Refusal::Unknown)),
            false => Ok(()),
        }
    }

    /// Answers a greeting with the hub's own proof.
    pub async fn greeting(&mut self, greeting: Greeting) -> Result<ToBrowser, Closing> {
        if !self.pass.grant.may_prove() {
            self.edge.metrics.refused("pairing");
            return Err(Closing::new(CloseReason::Refused, "a web page cannot be paired"));
        }
        if self.instance.is_some_and(|given| *given != greeting.instance) {
            return Err(Closing::new(
                CloseReason::ProtocolError,
                "the instance id in hello and the one in the address differ",
            ));
        }
        if greeting.carried.is_some() && self.pass.grant != Grant::Paired {
            self.edge.metrics.refused("pairing");
            return Err(Closing::new(CloseReason::Refused, "only our extension carries pages"));
        }
        let instance = greeting.instance.clone();
        self.carried = greeting.carried.clone().map(Box::new);
        let address = self.pass.address.clone();
        let asked = self.ask(move |pairings| pairings.challenge(&greeting, &address)).await;
        let challenge = asked.map_err(|refusal| self.refuse(Some(&instance), &refusal))?;
        let told =
            ToBrowser::Challenge { nonce: challenge.nonce().to_owned(), proof: challenge.proof() };
        self.challenge = Some(Box::new(challenge));
        Ok(told)
    }

    /// Checks a proof; only then the introduction counts. Who has no name gets the one that it was
    /// paired by.
    pub async fn proof(&mut self, proof: String, hello: Hello) -> Result<Hello, Closing> {
        let Some(challenge) = self.challenge.take() else {
            return Err(Closing::new(CloseReason::ProtocolError, "prove without a challenge"));
        };
        self.proven_at = Some(self.edge.unpairings.load(Ordering::SeqCst));
        let name = hello.name.clone();
        let asked =
            self.ask(move |pairings| pairings.check(*challenge, &proof, name.as_deref())).await;
        let paired = asked.map_err(|refusal| self.refuse(Some(&hello.instance), &refusal))?;
        // A page has no name of its carrier's.
        let name = paired.name.filter(|_| self.carried.is_none());
        Ok(Hello { name: hello.name.or(name), ..hello })
    }

    /// Returns whose page it is that was let in, where somebody carries it.
    pub fn carried(&self) -> Option<&Carriage> {
        self.carried.as_deref()
    }

    /// Returns whether a proof was looked at; one that was wrong has ended the connection.
    pub fn is_proven(&self) -> bool {
        self.proven_at.is_some()
    }

    /// Returns whether somebody was unpaired while this peer was let in: its session may have
    /// been overlooked.
    pub fn is_outdated(&self) -> bool {
        self.proven_at.is_some_and(|at| at != self.edge.unpairings.load(Ordering::SeqCst))
    }

    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Pairings) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let pairings = self.edge.pairings.clone();
        let asked = tokio::task::spawn_blocking(move || question(&pairings)).await;
        // It fails only when the hub ends or the question panics; neither lets anybody in.
        asked.unwrap_or(Err(Refusal::Unknown))
    }

    fn refuse(&self, instance: Option<&InstanceId>, refusal: &Refusal) -> Closing {
        self.edge.metrics.refused("pairing");
        if self.edge.refusal_log.allows() {
            let instance = instance.or(self.instance).map(InstanceId::as_str);
            tracing::warn!(gate = "pairing", instance, reason = %refusal, "peer refused");
        }
        refusal.closing()
    }
}

/// Makes the close for a browser whose key was forgotten.
pub fn unpaired() -> Closing {
    Closing::new(CloseReason::NotPaired, "this browser was unpaired; run `tabwire pair`")
}

/// Makes the close for a browser that has to be judged anew.
pub fn outdated() -> Closing {
    Closing::new(CloseReason::NotPaired, "pairings have changed just now; connect again")
}
