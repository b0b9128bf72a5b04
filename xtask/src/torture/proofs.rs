//! The table of proofs: what each is called, what it shows, and what is run.

/// Generated cases per property in a long run.
pub const CASES: u32 = 100_000;

/// A proof that takes long.
pub struct Proof {
    pub name: &'static str,
    pub what: &'static str,
    pub work: Work,
}

pub enum Work {
    /// `cargo xtask test`, again and again.
    Suite,
    /// Command lines that run tests in their long form.
    Tests(&'static [&'static [&'static str]]),
    /// The targets of `fuzz/`.
    Fuzz,
}

pub const PROOFS: &[Proof] = &[
    Proof {
        name: "suite",
        what: "all tests ten times, five times while all cores are busy",
        work: Work::Suite,
    },
    Proof {
        name: "kills",
        what: "the hub is killed 200 times with traffic, and 100 times in mid-call",
        work: Work::Tests(&[&it("durable_kills"), &it("machine_deaths"), &it("keyed_")]),
    },
    Proof {
        name: "machine",
        what: "starts at once, frozen hubs, terms, ten minutes of sleep, on a machine of its own",
        work: Work::Tests(&[
            &it("machine_starts"),
            &it("machine_frozen"),
            &it("machine_terms"),
            &it("machine_sleep"),
        ]),
    },
    Proof {
        name: "cuts",
        what: "connections are cut in the middle of calls and replays",
        work: Work::Tests(&[&it("cuts"), &it("recovered_")]),
    },
    Proof {
        name: "limits",
        what: "what must happen soon happens within its strict time",
        work: Work::Tests(&[
            &it("slow_readers"),
            &it("takeover"),
            &it("endings"),
            &it("state"),
            &it("stopping"),
            &it("silence"),
            &it("inbox"),
            &it("naming"),
            DEATHS,
        ]),
    },
    Proof {
        name: "damage",
        what: "store files are cut and 2,000 bits of them flipped",
        work: Work::Tests(&[&it("durable_store"), STORE]),
    },
    Proof {
        name: "soak",
        what: "100,000 sessions come and go: neither memory nor open files grow",
        work: Work::Tests(&[&it("soak")]),
    },
    Proof {
        name: "properties",
        what: "100,000 generated cases per property; odd values in every recorded frame",
        work: Work::Tests(&[
            &["cargo", "test", "-q", "--release", "-p", "hub", "-p", "store", "-p", "snapshot"],
            &["cargo", "test", "-q", "--release", "-p", "dialect", "--test", "golden"],
        ]),
    },
    Proof {
        name: "fuzz",
        what: "every target of fuzz/, ten million inputs or 20 minutes each",
        work: Work::Fuzz,
    },
];

/// The store's own tests, which are many times faster in a release build.
const STORE: &[&str] =
    &["cargo", "test", "-q", "--release", "-p", "store", "--test", "torture", "--", "--nocapture"];

/// Deaths in a real browser.
const DEATHS: &[&str] =
    &["cargo", "test", "-q", "-p", "tabwire", "--test", "browser", "--", "deaths", "--nocapture"];

/// Tests of the whole hub whose names contain this.
const fn it(filter: &str) -> [&str; 10] {
    ["cargo", "test", "-q", "-p", "tabwire", "--test", "it", "--", filter, "--nocapture"]
}
