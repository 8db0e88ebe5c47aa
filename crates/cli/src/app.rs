//! The composition root: the real owner of the data, the real terminal, the real process. Must never hold anything that a test of
//! [`crate::run`] would want to see.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use retake_wire::{Client, Problem, ProblemKind};

use crate::owner::{Owner, Places, Setting};
use crate::run::{Surroundings, run};
use crate::term::{interrupt, restore, restore_on_panic};
use crate::terminal::Terminal;
