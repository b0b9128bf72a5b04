//! Tool `batch`: several calls in one, until one fails; and noting calls so that they can be made
//! again.
//!
//! Every step goes through the toolbox as if the client had called it, so its checks, its owner
//! and its limits are the same. What is wrong with any step's words is said before the first is
//! done. Recording itself is in [`crate::recording`].

use model::{CallProgress, Code, Fault, Retry, json::cut, page_text};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    Toolbox,
    action::invalid,
    answer::LONGEST,
    definition::{Annotations, Client, CoreTool, Definition, Link, Output, Work, decode},
    recording::{MASK, Recording, STEPS as NOTED},
    shelf,
};

/// Steps of one call.
const STEPS: usize = 50;
/// Pictures that one answer passes on.
const PICTURES: usize = 4;

/// The entry of this file in [`TOOLS`](crate::TOOLS).
pub const TOOL: CoreTool = CoreTool::own("batch", "batch", define, run);

#[derive(Deserialize, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Action {
    #[default]
    Run,
    Record,
    Stop,
}

#[derive(Deserialize)]
struct Args {
    #[serde(default)]
    action: Action,
    steps: Option<Vec<Map<String, Value>>>,
    session: Option<Value>,
    tab: Option<Value>,
}

fn define() -> Definition {
    Definition {
        name: TOOL.name.to_owned(),
        title: String::new(),
        description: "run: does `steps` until one fails. record: notes your browser calls from \
            now on; stop: gives them as steps that can be run again."
            .to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "action": {"enum": ["run", "record", "stop"]},
                "steps": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"tool": {"type": "string"}},
                        "required": ["tool"],
                    },
                    "description": "tool and its arguments",
                },
                "session": {"type": "string"},
                "tab": {"type": "integer"},
            },
            "additionalProperties": false,
        }),
        output_schema: None,
        annotations: Annotations::reaching_pages(false),
    }
}

fn run<'a>(toolbox: &'a Toolbox, client: &'a Client, args: Value) -> Work<'a> {
    Box::pin(async move {
        let args: Args = decode(args)?;
        let own = &client.caller.client;
        if args.action != Action::Run {
            args.refuse_steps()?;
        }
        match args.action {
            Action::Run => {
                let steps = read_steps(toolbox, args)?;
                do_steps(toolbox, client, steps).await
            }
            Action::Record => Ok(begun(toolbox.recorder.begin(own))),
            Action::Stop => match toolbox.recorder.end(own) {
                Some(recording) => Ok(show_recording(&recording)),
                None => Err(Fault::new(Code::InvalidArgument, "nothing is being recorded")
                    .hint("`action` record begins; a recording is forgotten after an hour")),
            },
        }
    })
}

impl Args {
    fn refuse_steps(&self) -> Result<(), Fault> {
        let given = [
            ("steps", self.steps.is_some()),
            ("session", self.session.is_some()),
            ("tab", self.tab.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((name, _)) => {
                Err(invalid(format!("`{name}` is for run; record and stop take nothing else")))
            }
            None => Ok(()),
        }
    }
}

/// One call of a batch.
struct Step {
    tool: String,
    args: Value,
}

impl Step {
    /// What is called, such as `browser_tab new`.
    fn what(&self) -> String {
        match self.args["action"].as_str() {
            Some(action) => format!("{} {action}", self.tool),
            None => self.tool.clone(),
        }
    }
}

/// Reads the steps; whatever can be known to be wrong is said before anything is done.
fn read_steps(toolbox: &Toolbox, args: Args) -> Result<Vec<Step>, Fault> {
    let Some(steps) = args.steps else {
        return Err(invalid("run needs `steps`, 1 to 50 of them".to_owned()));
    };
    let count = steps.len();
    if !(1..=STEPS).contains(&count) {
        return Err(invalid(format!("`steps` has 1 to {STEPS} steps, not {count}")));
    }
    let usual = [("session", args.session), ("tab", args.tab)];
    let read = |(place, step): (usize, Map<String, Value>)| {
        read_step(toolbox, step, &usual).map_err(|fault| Fault {
            message: format!("`steps.{place}`: {}; nothing was done", fault.message),
            ..fault
        })
    };
    steps.into_iter().enumerate().map(read).collect()
}

fn read_step(
    toolbox: &Toolbox,
    mut step: Map<String, Value>,
    usual: &[(&str, Option<Value>)],
) -> Result<Step, Fault> {
    let Some(Value::String(tool)) = step.remove("tool") else {
        return Err(invalid("`tool` is missing; it is the name of a tool".to_owned()));
    };
    if tool == TOOL.name {
        return Err(invalid("a batch has no batch in it, and neither record nor stop".to_owned()));
    }
    // As MCP writes a call, for tools with an argument `tool` of their own.
    if let (1, Some(Value::Object(inner))) = (step.len(), step.get("arguments")) {
        step = inner.clone();
    }
    for (name, value) in usual {
        if let Some(value) = value
            && toolbox.takes(&tool, &step, name)
            && !step.contains_key(*name)
        {
            step.insert((*name).to_owned(), value.clone());
        }
    }
    let args = Value::Object(step);
    toolbox.check(&tool, args.clone())?;
    Ok(Step { tool, args })
}

async fn do_steps(toolbox: &Toolbox, client: &Client, steps: Vec<Step>) -> Result<Output, Fault> {
    // The batch is one call to the client: its key is the whole's, and so is its progress.
    let each = Client { key: None, progress: None, ..client.clone() };
    let mut done = Done { names: steps.iter().map(Step::what).collect(), ..Done::default() };
    for (place, step) in steps.into_iter().enumerate() {
        tell(client, place, &done.names);
        match toolbox.call_unkeyed(&each, &step.tool, step.args).await {
            Ok(output) => done.add(output),
            Err(fault) if place == 0 => {
                let rest = match fault.retry {
                    // It was sent, and may have been done.
                    Retry::Check => "no other step was done",
                    _ => "nothing was done",
                };
                let message = format!("step 1, {}: {}; {rest}", done.names[0], fault.message);
                return Err(Fault { message, ..fault });
            }
            Err(fault) => {
                done.fault = Some(fault);
                break;
            }
        }
    }
    Ok(done.show())
}

/// Tells how far it is; a client that does not read fast enough is told less.
fn tell(client: &Client, place: usize, names: &[String]) {
    if let Some(progress) = &client.progress {
        let message = Some(names[place].clone());
        let total = Some(names.len() as f64);
        let _ = progress.try_send(CallProgress { progress: place as f64, total, message });
    }
}

/// What came of the steps.
#[derive(Default)]
struct Done {
    names: Vec<String>,
    outputs: Vec<Output>,
    /// Pictures that there were, and those that are passed on.
    pictures: usize,
    shown: usize,
    /// Why the step after the last output failed.
    fault: Option<Fault>,
}

impl Done {
    /// Takes in what a step gave; what would not be passed on is not kept until the last is done.
    fn add(&mut self, mut output: Output) {
        self.pictures += output.images.len();
        output.images.truncate(PICTURES - self.shown);
        self.shown += output.images.len();
        self.outputs.push(output);
    }

    fn show(self) -> Output {
        let mut whole = Output { failed: self.fault.is_some(), ..Output::default() };
        let length = |output: &Output| below_step(output).chars().count();
        let texts: Vec<_> = self.outputs.iter().map(length).collect();
        let share = share(texts, LONGEST);
        let sizes = self.outputs.iter().map(|output| output.structured.to_string().len());
        let room = self::share(sizes.collect(), LONGEST);
        let mut lines = Vec::new();
        let mut results = Vec::new();
        let left_out = self.pictures - self.shown;
        let names = &self.names;
        for (place, output) in self.outputs.into_iter().enumerate() {
            let (number, name) = (place + 1, &names[place]);
            let shown = shorten(&output, share, &mut whole.links);
            whole.images.extend(output.images);
            whole.links.extend(output.links);
            whole.source = whole.source.or(output.source);
            let fits = output.structured.to_string().len() <= room;
            let result = match output.structured {
                Value::Null => json!({"text": cut(&output.text, share)}),
                result if fits => result,
                _ => json!({"truncated": true}),
            };
            results.push(json!({"step": number, "tool": name, "result": result}));
            lines.push(format!("{number}. {name}:{shown}"));
        }
        if left_out > 0 {
            lines.push(format!(
                "({left_out} pictures are left out; at most {PICTURES} are passed on)"
            ));
        }
        whole.structured = json!({"done": results.len(), "results": results});
        if let Some(fault) = &self.fault {
            lines.push(failure(fault, results.len(), names));
            whole.structured["failed"] = json!({
                "step": results.len() + 1,
                "tool": names[results.len()],
                "error": {
                    "code": fault.code.as_str(),
                    "retry": fault.retry.as_str(),
                    "message": fault.message,
                    "hint": fault.hint,
                },
            });
        }
        whole.text = lines.join("\n");
        whole
    }
}

/// Says which step failed, why, what was done and what was not.
fn failure(fault: &Fault, done: usize, names: &[String]) -> String {
    let (number, count) = (done + 1, names.len());
    let span = |from: usize, to: usize| match from == to {
        true => format!("step {from}"),
        false => format!("steps {from} to {to}"),
    };
    let was = if done == 1 { "was" } else { "were" };
    let rest = match count - number {
        0 => String::new(),
        left => {
            let were = if left == 1 { "was" } else { "were" };
            format!(", {} {were} not", span(number + 1, count))
        }
    };
    format!(
        "{number}. {}: failed: {fault} [{}, retry: {}]\n({} {was} done{rest})",
        names[done],
        fault.code,
        fault.retry.as_str(),
        span(1, done),
    )
}

/// What each may have so that all together fit: what the short ones leave is for the long ones.
fn share(mut lengths: Vec<usize>, total: usize) -> usize {
    lengths.sort_unstable();
    let mut left = total;
    for (place, length) in lengths.iter().enumerate() {
        let share = left / (lengths.len() - place);
        if *length > share {
            return share;
        }
        left -= length;
    }
    usize::MAX
}

/// Writes what came of a step, to stand behind its name: only lines of ours begin like a step. What
/// is a page's alone has lines of its own.
fn below_step(output: &Output) -> String {
    match output.is_bare {
        true => format!("\n{}", page_text::block(&output.text)),
        false => format!(" {}", page_text::hanging(&output.text)),
    }
}

/// Cuts what came of a step; the whole of it is behind a link.
fn shorten(output: &Output, share: usize, links: &mut Vec<Link>) -> String {
    let shown = below_step(output);
    if shown.chars().count() <= share {
        return shown;
    }
    let short = cut(&shown, share);
    match shelf::link("step.txt".to_owned(), "text/plain", output.text.clone().into_bytes()) {
        Some(link) => {
            let remark = format!("… cut; all of it is the resource {}", link.uri);
            links.push(link);
            format!("{short}{remark}")
        }
        None => format!("{short}… cut"),
    }
}

fn begun(dropped: Option<usize>) -> Output {
    let before = match dropped {
        Some(steps) => format!("; the {steps} steps noted before are dropped"),
        None => String::new(),
    };
    let text = format!(
        "your browser calls are noted from now on, up to {NOTED} of them, for an hour{before}; \
         `action` stop gives them"
    );
    Output { text, structured: json!({"recording": true}), ..Output::default() }
}

fn show_recording(recording: &Recording) -> Output {
    let count = recording.steps.len();
    let mut output = Output::default();
    let steps = json!({"steps": recording.steps});
    let text = page_text::json(&steps.to_string()).into_owned();
    let steps_word = if count == 1 { "step" } else { "steps" };
    let mut lines = vec![format!("{count} {steps_word}; to do it again, call batch with:")];
    output.structured = json!({
        "count": count,
        "masked": recording.masked,
        "stuck": recording.stuck,
        "leftOut": recording.left_out,
    });
    match text.len() <= LONGEST {
        true => {
            lines.push(text);
            output.structured["steps"] = json!(recording.steps);
        }
        false => match shelf::link("steps.json".to_owned(), "application/json", text.into()) {
            Some(link) => {
                lines.push(format!("they are the resource {}", link.uri));
                output.structured["uri"] = json!(link.uri);
                output.links.push(link);
            }
            None => lines.push("they are too long to be given".to_owned()),
        },
    }
    lines.extend(remarks(recording));
    output.text = lines.join("\n");
    output
}

/// What must be known before a recording is run again.
fn remarks(recording: &Recording) -> Vec<String> {
    let list = |steps: &[usize]| {
        let steps: Vec<_> = steps.iter().map(usize::to_string).collect();
        format!("step {}", steps.join(", "))
    };
    let mut remarks = Vec::new();
    if recording.steps.len() > STEPS {
        remarks.push(format!("(run them in parts: one batch has at most {STEPS} steps)"));
    }
    if !recording.masked.is_empty() {
        let which = list(&recording.masked);
        remarks
            .push(format!("({which}: what was typed as a password is noted as {MASK}; put it in)"));
    }
    if !recording.stuck.is_empty() {
        let which = list(&recording.stuck);
        remarks.push(format!(
            "({which}: cannot be run again as it is, because its `ref` means an element of that \
             page only; give a selector instead)"
        ));
    }
    let tabs = recording.tabs();
    if !tabs.is_empty() {
        remarks
            .push(format!("({}: `tab` is a number of then; put in the one of now)", list(&tabs)));
    }
    if recording.left_out > 0 {
        let count = recording.left_out;
        remarks.push(format!("({count} later calls are missing: they did not fit)"));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_short_texts_leave_is_for_long_ones() {
        assert_eq!(share(vec![10, 10, 1000], 120), 100);
        assert_eq!(share(vec![1000, 1000], 120), 60);
        assert_eq!(share(vec![10, 20], 120), usize::MAX);
        assert_eq!(share(vec![], 120), usize::MAX);
    }
}
