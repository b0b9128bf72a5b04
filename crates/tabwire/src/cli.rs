//! The command line. Every command has `--help` with an example, and `--json` where it prints
//! data; exit codes are 0 done, 1 failed, 2 wrong usage, 3 no hub, 4 refused, 5 for a hub in
//! the background that found another one at work, and 130 for a demo that was interrupted.

mod browsers;
mod kept;
mod plain_stdio;
pub mod setup;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use clap::{Arg, ArgAction, ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::{
    command,
    config::{
        Layers, ProgramConfig,
        table::{self, Kind},
    },
    failure::Failure,
};

pub use browsers::{Browser, BrowserAction, NativeHost, Pair, Unpair};
pub use kept::{Audit, AuditAction, AuditTail, Store, StoreAction};

/// Connects AI clients to live browsers and web apps: one program, one port.
#[derive(Parser)]
#[command(name = "tabwire", version, arg_required_else_help = true, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the hub in the foreground.
    #[command(after_help = "Example:\n  tabwire serve --port 8765 --log-level debug\n\n\
        Every flag is also a key of the TOML file and a TABWIRE_ variable; see docs/config.md.")]
    Serve(Serve),
    /// Speaks MCP on standard input and output for one AI client, through the hub of this machine.
    #[command(after_help = "Examples:\n  tabwire stdio\n  tabwire stdio --session viewer\n\n\
        In an AI client's configuration: command \"tabwire\", arguments [\"stdio\"].\n\
        Where no hub runs, one is started in the background; it ends when nobody needs it.")]
    Stdio(Stdio),
    /// Tells whether a hub runs, and where.
    #[command(after_help = "Example:\n  tabwire status --json")]
    Status(Status),
    /// Ends the hub that runs in the background.
    #[command(after_help = "Examples:\n  tabwire stop\n  tabwire stop --force\n\n\
        A hub that does not answer is ended by force only, and only if it is proven to be ours.")]
    Stop(Stop),
    /// Lists the sessions, shows one of them with its state, or forgets some.
    #[command(after_help = "Examples:\n  tabwire sessions\n  tabwire sessions viewer --json\n  \
        tabwire sessions forget --away\n  tabwire sessions allow http://localhost:5173")]
    Sessions(Sessions),
    /// Calls a tool of ours or of a connected app, as an AI client would.
    #[command(after_help = "Examples:\n  tabwire call change_color '{\"color\":\"#cc0000\"}'\n  \
        tabwire call app_state '{\"path\":\"/color\"}'\n  \
        tabwire call search '{\"text\":\"tea\"}' --session shop --timeout 5s\n  \
        echo '{\"color\":\"red\"}' | tabwire call change_color -")]
    Call(Call),
    /// Shows what happens in the sessions, as it happens.
    #[command(after_help = "Examples:\n  tabwire tail\n  tabwire tail --session viewer --json")]
    Tail(Tail),
    /// Opens a page of the hub in your browser: the 3D viewer.
    #[command(after_help = "Examples:\n  tabwire open viewer\n  \
        tabwire open viewer --name left --print\n  \
        tabwire open viewer --link --host build-box:8765\n\n\
        Where no hub runs, one is started in the background; it ends when nobody needs it.")]
    Open(Open),
    /// Shows what Tabwire does: starts a hub of its own and a browser with the 3D viewer, plays an
    /// AI client's side, and saves a picture of the result.
    #[command(after_help = "Examples:\n  tabwire demo\n  tabwire demo --headless\n\n\
        The picture is ./demo-<time>.png. With a display everything stays until Ctrl-C, without \
        one it ends by itself. Nothing else is left behind, and a hub that runs is left alone.\n\
        Exit code 130: interrupted before the end.")]
    Demo(Demo),
    /// Starts, lists and closes browsers of their own, with the extension in them.
    #[command(after_help = "Examples:\n  tabwire browser new --headless\n  \
        tabwire browser new --profile work\n  tabwire browser close work\n\n\
        Browsers end with the hub; named profiles are kept. See docs/browsers.md.")]
    Browser(Browser),
    /// Lists the protocols that the hub speaks, with their ports and sessions.
    #[command(after_help = "Example:\n  tabwire dialects\n\n\
        Ports for clients of other projects are opened with `tabwire serve --compat`.")]
    Dialects(Dialects),
    /// Pairs a browser by a code, and lets the native messaging host pair.
    #[command(after_help = "Examples:\n  tabwire pair\n  tabwire pair --list --json\n\n\
        Paste the code into the extension within two minutes. Where the native messaging host is \
        installed, browsers pair by themselves.")]
    Pair(Pair),
    /// Prints the token that HTTP clients show to the hub, with the lines that set them up.
    #[command(after_help = "Examples:\n  tabwire token\n  tabwire token --json\n\n\
        The token is in the file `token` of the data folder. Clients on stdio need none.")]
    Token(Token),
    /// Forgets the keys of paired browsers and ends their connections.
    #[command(after_help = "Examples:\n  tabwire unpair work\n  tabwire unpair --all\n\n\
        The native messaging host pairs no new browser until the next `tabwire pair`.")]
    Unpair(Unpair),
    /// Answers our extension on standard input and output; started by the browser.
    #[command(
        hide = true,
        after_help = "Example:\n  \
        tabwire native-host chrome-extension://flijodnkmdflbekoipgfjippcnecmdfi/"
    )]
    NativeHost(NativeHost),
    /// Looks at the file of the embedded store, or works on it; no hub may run for the latter.
    #[command(after_help = "Examples:\n  tabwire store check\n  tabwire store export > kept.jsonl")]
    Store(Store),
    /// Shows who did what: one line per call.
    #[command(
        after_help = "Examples:\n  tabwire audit tail\n  tabwire audit tail --lines 500 --json"
    )]
    Audit(Audit),
    /// Tells browsers and AI clients on this machine of Tabwire; shows every change, and asks first.
    #[command(after_help = "Examples:\n  tabwire install --dry-run\n  tabwire install\n  \
        tabwire install --client claude-code --browser chrome --yes\n\n\
        A changed file keeps a backup beside it; `tabwire uninstall` takes everything back.")]
    Install(setup::Install),
    /// Takes away what `install` has put there, and nothing else.
    #[command(after_help = "Examples:\n  tabwire uninstall --dry-run\n  \
        tabwire uninstall --client cursor --yes")]
    Uninstall(setup::Uninstall),
    /// Looks whether everything is in its place, and says how to fix it; exit code 1 means that
    /// something does not work.
    #[command(after_help = "Examples:\n  tabwire doctor\n  tabwire doctor --json")]
    Doctor(setup::Doctor),
    /// Prints the version.
    #[command(after_help = "Example:\n  tabwire version --json")]
    Version(Version),
    /// Prints a script that completes commands and flags.
    #[command(
        after_help = "Example:\n  tabwire completions bash > ~/.local/share/bash-completion/completions/tabwire"
    )]
    Completions {
        /// For which shell.
        shell: clap_complete::Shell,
    },
}

#[derive(Args)]
pub struct Serve {
    /// The file with settings [default: config.toml in the user's configuration folder].
    #[arg(long, env = "TABWIRE_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Prints the settings that would count, and exits.
    #[arg(long)]
    pub print_config: bool,
    /// Ends when nobody was there for so long, such as 15m; for hubs in the background.
    #[arg(long, value_parser = humantime::parse_duration, value_name = "TIME")]
    pub idle_exit: Option<Duration>,
}

/// Where a hub keeps its data; by this folder it is found.
#[derive(Debug, Clone, PartialEq, Args)]
pub struct DataFolder {
    /// The folder of the hub's data.
    #[arg(long, env = "TABWIRE_DATA", value_name = "FOLDER")]
    pub data: Option<PathBuf>,
}

impl DataFolder {
    /// Returns the folder that was named, or the usual one.
    pub fn path(&self) -> PathBuf {
        self.data.clone().unwrap_or_else(|| ProgramConfig::default().data)
    }
}

/// Which hub a command joins, and the one that it starts where none runs.
#[derive(Debug, PartialEq, Args)]
pub struct JoinedHub {
    #[command(flatten)]
    pub data: DataFolder,
    /// The port of a hub that has to be started.
    #[arg(long, env = "TABWIRE_PORT", value_name = "PORT")]
    pub port: Option<u16>,
    /// When a hub that had to be started ends, after nobody was there.
    #[arg(long, value_parser = humantime::parse_duration, default_value = "15m", value_name = "TIME")]
    pub idle_exit: Duration,
    /// Joins a hub that runs, and starts none.
    #[arg(long)]
    pub no_start: bool,
}

#[derive(Debug, PartialEq, Args)]
pub struct Stdio {
    /// The session that calls go to when they name none.
    #[arg(long, short)]
    pub session: Option<String>,
    /// How long a request may take before the hub is asked whether it is awake; a call that wants
    /// more time has it.
    #[arg(long, value_parser = humantime::parse_duration, default_value = "30s", value_name = "TIME")]
    pub request_timeout: Duration,
    #[command(flatten)]
    pub hub: JoinedHub,
}

#[derive(Args)]
#[command(mut_arg("no_start", |flag| flag.help("Uses a hub that runs, and starts none")))]
pub struct Open {
    /// Which page.
    pub page: PageName,
    /// What the page's session shall be called.
    #[arg(long, value_parser = command::open::page_name)]
    pub name: Option<String>,
    /// Only prints the address.
    #[arg(long)]
    pub print: bool,
    /// Prints a link for a browser on another machine, good once and for two minutes.
    #[arg(long, conflicts_with = "print")]
    pub link: bool,
    /// The name or address of this machine in the link [default: one that the hub listens on].
    #[arg(long, requires = "link", value_name = "HOST:PORT")]
    pub host: Option<String>,
    #[command(flatten)]
    pub hub: JoinedHub,
    /// Prints JSON for programs.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Demo {
    /// Without a window, also where there is a display.
    #[arg(long)]
    pub headless: bool,
    /// Leaves everything running until Ctrl-C, also without a display.
    #[arg(long)]
    pub stay: bool,
}

/// A page that comes with the program.
#[derive(Clone, Copy, clap::ValueEnum)]
pub enum PageName {
    Viewer,
}

impl PageName {
    /// Returns its name in addresses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
        }
    }
}

#[derive(Args)]
pub struct Status {
    #[command(flatten)]
    pub data: DataFolder,
    /// Prints JSON for programs.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Stop {
    #[command(flatten)]
    pub data: DataFolder,
    /// Ends a hub that does not answer, or not in time.
    #[arg(long)]
    pub force: bool,
    /// How long the hub may take to end.
    #[arg(long, value_parser = humantime::parse_duration, default_value = "20s", value_name = "TIME")]
    pub timeout: Duration,
    /// Prints JSON for programs.
    #[arg(long)]
    pub json: bool,
}

/// How a command finds the hub.
#[derive(Args, Clone)]
pub struct Target {
    /// The port that the hub must have; another one is an error.
    #[arg(long, env = "TABWIRE_PORT", value_name = "PORT")]
    pub port: Option<u16>,
    #[command(flatten)]
    pub data: DataFolder,
    /// Prints JSON for programs.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Sessions {
    #[command(subcommand)]
    pub change: Option<SessionsChange>,
    /// One session: its name, its id, or the beginning of its id.
    pub session: Option<String>,
    /// Asks the page for its state instead of showing the cached one.
    #[arg(long, requires = "session")]
    pub refresh: bool,
    #[command(flatten)]
    pub target: Target,
}

/// What `tabwire sessions` can change.
#[derive(Subcommand)]
pub enum SessionsChange {
    /// Forgets a session whose page or browser is away, with its state and its events.
    Forget {
        /// Its name, its id, or the beginning of its id.
        #[arg(required_unless_present = "away", conflicts_with = "away")]
        session: Option<String>,
        /// All that are away.
        #[arg(long)]
        away: bool,
        #[command(flatten)]
        target: Target,
    },
    /// Lets web apps of an origin in, where the setting `app_origins` is `ask`.
    Allow {
        /// Such as http://localhost:5173.
        origin: String,
        #[command(flatten)]
        target: Target,
    },
    /// Lets web apps of an origin in no more, and puts out those that are here.
    Deny {
        /// Such as http://localhost:5173.
        origin: String,
        #[command(flatten)]
        target: Target,
    },
}

#[derive(Args)]
pub struct Call {
    /// Which tool.
    pub tool: String,
    /// Its arguments as a JSON object; `-` reads them from standard input.
    #[arg(default_value = "{}", value_name = "JSON")]
    pub args: String,
    /// To which session: name, id, or the beginning of the id.
    #[arg(long, short)]
    pub session: Option<String>,
    /// In which tab, for tools of pages.
    #[arg(long)]
    pub tab: Option<u64>,
    /// How long it may take, such as 5s.
    #[arg(long, value_parser = humantime::parse_duration)]
    pub timeout: Option<Duration>,
    /// Saves the file, picture or long text of the answer there.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub target: Target,
}

#[derive(Args)]
pub struct Tail {
    /// Only this session.
    #[arg(long, short)]
    pub session: Option<String>,
    #[command(flatten)]
    pub target: Target,
}

#[derive(Args)]
pub struct Dialects {
    #[command(flatten)]
    pub target: Target,
}

#[derive(Args)]
pub struct Token {
    #[command(flatten)]
    pub data: DataFolder,
    /// The hub's port [default: that of the hub which runs, or ran last].
    #[arg(long, env = "TABWIRE_PORT", value_name = "PORT")]
    pub port: Option<u16>,
    /// Prints JSON for programs.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Version {
    /// Prints JSON for programs.
    #[arg(long)]
    pub json: bool,
}

/// Settings that short help shows; `--help` shows all.
const USUAL: &[&str] =
    &["port", "bind", "compat", "data", "token_file", "open", "allow_origin", "log_level"];

/// Reads the command line and does what it says.
pub fn run() -> Result<(), Failure> {
    let words = std::env::args_os().skip(1);
    match plain_stdio::read(words, |name| std::env::var_os(name)) {
        Some(stdio) => command::stdio::run(&stdio),
        None => run_any(),
    }
}

// Not inlined: its stack would be touched by who does not need it.
#[inline(never)]
fn run_any() -> Result<(), Failure> {
    let matches = command_for(std::env::args().nth(1).as_deref()).get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match cli.command {
        Command::Serve(serve) => {
            let flags = flags(matches.subcommand_matches("serve"));
            let layers = Layers::new(serve.config, flags);
            command::serve::run(&layers, serve.print_config, serve.idle_exit)
        }
        Command::Stdio(stdio) => command::stdio::run(&stdio),
        Command::Open(open) => command::open::run(&open),
        Command::Demo(demo) => command::demo::run(&demo),
        Command::Status(status) => command::status::run(&status),
        Command::Stop(stop) => command::stop::run(&stop),
        Command::Sessions(sessions) => command::sessions::run(&sessions),
        Command::Call(call) => command::call::run(&call),
        Command::Tail(tail) => command::tail::run(&tail),
        Command::Browser(browser) => command::browser::run(&browser),
        Command::Dialects(dialects) => command::dialects::run(&dialects),
        Command::Pair(pair) => command::pair::run(&pair),
        Command::Token(token) => command::token::run(&token),
        Command::Unpair(unpair) => command::unpair::run(&unpair),
        Command::NativeHost(options) => command::native_host::run(&options),
        Command::Store(store) => command::store::run(&store),
        Command::Audit(audit) => command::audit::run(&audit),
        Command::Install(options) => command::install::run(&options),
        Command::Uninstall(options) => command::uninstall::run(&options),
        Command::Doctor(options) => command::doctor::run(&options),
        Command::Version(version) => command::version::run(version.json),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut command(), "tabwire", &mut std::io::stdout());
            Ok(())
        }
    }
}

/// The command line for a first word. Reading off all settings costs more than a relay's whole
/// start, so only who serves pays for it.
fn command_for(first: Option<&str>) -> clap::Command {
    match first {
        Some(
            "stdio" | "audit" | "browser" | "call" | "demo" | "dialects" | "doctor" | "install"
            | "native-host" | "pair" | "sessions" | "status" | "stop" | "store" | "tail" | "token"
            | "uninstall" | "unpair" | "version",
        ) => Cli::command(),
        _ => command(),
    }
}

/// The whole command line, with a flag for every setting.
fn command() -> clap::Command {
    Cli::command().mut_subcommand("serve", |serve| serve.args(table::settings().iter().map(flag)))
}

fn flag(setting: &table::Setting) -> Arg {
    let help = format!("{} [env: {}]", setting.doc, setting.variable());
    let argument = Arg::new(setting.name.clone())
        .long(setting.flag())
        .help(help)
        .hide_short_help(!USUAL.contains(&setting.name.as_str()));
    match setting.kind {
        Kind::Switch => argument.num_args(0..=1).require_equals(true).default_missing_value("true"),
        Kind::List => argument.action(ArgAction::Append).value_name("VALUE"),
        Kind::Number => argument.value_name("NUMBER"),
        Kind::Text => argument.value_name("VALUE"),
    }
}

fn flags(matches: Option<&ArgMatches>) -> BTreeMap<String, Vec<String>> {
    let mut flags = BTreeMap::new();
    for setting in table::settings() {
        let given = matches.and_then(|matches| matches.get_many::<String>(&setting.name));
        if let Some(values) = given {
            flags.insert(setting.name, values.cloned().collect());
        }
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound_and_every_command_has_an_example() {
        let command = command();
        command.clone().debug_assert();
        for sub in command.get_subcommands() {
            let help = sub.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("tabwire "), "{} has no example", sub.get_name());
        }
    }

    #[test]
    fn what_joins_a_hub_has_the_same_flags_each_in_its_own_words() {
        for (name, verb) in [("stdio", "Joins"), ("open", "Uses")] {
            let command = command();
            let command = command.find_subcommand(name).unwrap();
            for (flag, help) in [
                ("data", "The folder of the hub's data"),
                ("port", "The port of a hub that has to be started"),
                ("idle_exit", "When a hub that had to be started ends, after nobody was there"),
                ("no_start", &format!("{verb} a hub that runs, and starts none")),
            ] {
                let found = command.get_arguments().find(|argument| argument.get_id() == flag);
                assert_eq!(found.unwrap().get_help().unwrap().to_string(), help, "{name} {flag}");
            }
        }
    }
}
