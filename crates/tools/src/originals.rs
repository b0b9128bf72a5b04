//! Names that other servers gave to what our tools do: accepted, never listed.
//!
//! Every command can be called by its own name, with the arguments of its action; a few have more
//! names. `browser_navigate` is the tool itself, which without `action` is the command.

use model::{Code, Fault};
use serde_json::{Value, json};

use crate::{TOOLS, action::Action, definition::CoreTool};

/// Further names of commands: `(name, command)`.
const ALSO: &[(&str, &str)] = &[
    ("browser_activate_tab", "browser_tab_activate"),
    ("browser_click", "browser_mouse_click"),
    ("browser_execute_js", "browser_evaluate"),
    ("browser_press_key", "browser_keyboard_press"),
    ("browser_refresh", "browser_reload"),
    ("browser_scroll", "browser_mouse_scroll"),
    ("browser_select_option", "browser_select"),
    ("browser_tabs_list", "browser_tab_list"),
    ("browser_wait", "browser_wait_for"),
];

/// Finds the tool and the action that an original name means.
pub fn find(name: &str) -> Option<(&'static CoreTool, &'static Action)> {
    let command = command(name);
    let mut rows = TOOLS.iter().flat_map(|tool| tool.actions().iter().map(move |row| (tool, row)));
    rows.find(|(_, row)| row.command == command)
}

/// Returns the command that a name means; one that has no other name means itself.
pub fn command(name: &str) -> &str {
    ALSO.iter().find(|(also, _)| *also == name).map_or(name, |(_, command)| command)
}

/// Gives the arguments of an original name the shape that the tool takes.
pub fn translate(name: &str, action: &Action, args: &mut Value) -> Result<(), Fault> {
    let Some(fields) = args.as_object_mut() else { return Ok(()) };
    // Here alone the word means something else than in our tools.
    if action.command == "browser_handle_dialog"
        && let Some(answer) = fields.remove("action")
    {
        fields.insert("dialogAction".to_owned(), answer);
    }
    // What the model wanted to say to a person about the element; it selects nothing.
    fields.remove("element");
    if action.name.is_empty() {
        return Ok(());
    }
    match fields.insert("action".to_owned(), json!(action.name)) {
        None => Ok(()),
        Some(_) => Err(Fault::new(Code::InvalidArgument, format!("{name} takes no `action`"))),
    }
}
