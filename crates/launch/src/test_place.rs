//! A folder for one test, gone at its end.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use crate::Surroundings;

pub struct Place(PathBuf);

impl Place {
    pub fn new() -> Self {
        let path = std::env::temp_dir().join(format!("tabwire-{}", model::id::random_text(12)));
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a script that can be run.
    ///
    /// Another process writes it: had this one the file open while another test starts a program,
    /// that program's process would have it too for a moment, and such a file cannot be run.
    pub fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let write = "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\"";
        let mut writer = Command::new("/bin/sh");
        writer.args(["-c", write]).arg(&path).arg(format!("#!/bin/sh\n{script}\n"));
        assert!(writer.status().unwrap().success());
        path
    }

    /// A machine whose data folder is here.
    pub fn surroundings(&self) -> Surroundings {
        Surroundings {
            data: self.0.join("data"),
            program: "/usr/bin/tabwire".into(),
            ..Surroundings::default()
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
