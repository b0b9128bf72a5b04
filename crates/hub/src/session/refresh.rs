//! Asking an app for its whole state: once at a time, and once more if it was needed meanwhile.

/// Where asking stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Refresh {
    /// Nothing is asked.
    #[default]
    Idle,
    /// It has been asked for, or is about to be.
    Asked,
    /// Likewise; and it was needed again since, by a peer that may not be the one that was asked.
    NeededAgain,
}

impl Refresh {
    /// The state is needed; returns whether somebody has to ask.
    pub(super) fn need(&mut self) -> bool {
        let before = *self;
        *self = if before == Self::Idle { Self::Asked } else { Self::NeededAgain };
        before == Self::Idle
    }

    /// Asking has ended, well or not; returns whether somebody has to ask once more.
    pub(super) fn ended(&mut self) -> bool {
        let before = std::mem::take(self);
        before == Self::NeededAgain && self.need()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_asked_once_at_a_time_and_once_more_if_needed_meanwhile() {
        let mut refresh = Refresh::default();
        assert!(!refresh.ended(), "nobody needs it");
        assert!(refresh.need());
        assert!(!refresh.need() && !refresh.need(), "it is asked for already");
        assert!(refresh.ended(), "it was needed again");
        assert!(!refresh.ended());
        assert!(refresh.need());
    }
}
