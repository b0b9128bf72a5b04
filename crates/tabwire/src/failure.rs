//! Errors at the very top: what is printed, and the exit code, which is a contract.

use std::process::ExitCode;

use crate::terminal;

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub struct Failure {
    exit: u8,
    message: String,
}

impl Failure {
    /// The thing was tried and failed: 1.
    pub fn failed(message: impl ToString) -> Self {
        Self { exit: 1, message: message.to_string() }
    }

    /// The command, a setting or a file is wrong: 2.
    pub fn usage(message: impl ToString) -> Self {
        Self { exit: 2, message: message.to_string() }
    }

    /// No hub runs where it was looked for: 3.
    pub fn no_hub(message: impl ToString) -> Self {
        Self { exit: 3, message: message.to_string() }
    }

    /// It is not allowed: 4.
    pub fn refused(message: impl ToString) -> Self {
        Self { exit: 4, message: message.to_string() }
    }

    /// Another hub was first, as can happen when several are started at once: 5, and no words.
    pub fn lost() -> Self {
        Self { exit: machine::join::LOST, message: String::new() }
    }

    /// A signal came before the end, as shells count it for Ctrl-C: 130, and no words.
    pub fn interrupted() -> Self {
        Self { exit: 130, message: String::new() }
    }

    /// Returns the words.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Prints the message and returns the exit code.
    pub fn report(self) -> ExitCode {
        if !self.message.is_empty() {
            terminal::tell(&self.message);
        }
        ExitCode::from(self.exit)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        // A reader that left (`tabwire tail | head`) is no failure worth telling.
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        Self::failed(error)
    }
}
