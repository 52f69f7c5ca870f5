//! Errors, signals and progress on their way between kernels and Python.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::error::{Error, Kind, Result};
use crate::memory::has_room_for_thread;
use crate::parallel::Control;

/// How often a long call looks for signals and reports its progress.
const POLL: Duration = Duration::from_millis(50);

/// A text this short takes a few milliseconds at most.
const MAX_UNWATCHED_BYTES: usize = 1 << 16;

/// Map each kernel error to the class of that meaning in `subword.errors`.
pub fn to_py_err(py: Python<'_>, error: &Error) -> PyErr {
    static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    match error.kind {
        Kind::Interrupted => return PyKeyboardInterrupt::new_err(()),
        Kind::Memory => return PyMemoryError::new_err(error.message.clone()),
        Kind::Disk => {
            let Some(os) = &error.os else { return PyOSError::new_err(error.message.clone()) };
            let path = os.path.as_os_str().to_owned();
            return PyOSError::new_err((os.errno, error.message.clone(), path));
        }
        _ => {}
    }
    let instance = ERRORS
        .get_or_try_init(py, || py.import("subword.errors").map(Bound::unbind))
        .and_then(|errors| errors.bind(py).getattr(error.kind.class_name()))
        .and_then(|class| match &error.os {
            Some(os) => class.call1((os.errno, error.message.as_str(), os.path.as_os_str())),
            None => class.call1((error.message.as_str(),)),
        });
    instance.map_or_else(|import_error| import_error, PyErr::from_value)
}

/// Run `work` without the GIL on a thread of its own while this one watches for signals.
///
/// `progress`, a Python callable, is given `Control::done` about twenty times a second. An
/// exception it raises, or a signal handler raises, stops the work and is raised. Where no
/// thread can be had the work runs on this one, and a signal waits for its end.
pub fn run_long<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Control) -> Result<T> + Send,
) -> PyResult<T> {
    let control = Control::default();
    if !has_room_for_thread() {
        return py.detach(|| work(&control)).map_err(|error| to_py_err(py, &error));
    }
    let work = Mutex::new(Some(work));
    let take = || work.lock().unwrap_or_else(PoisonError::into_inner).take();
    let outcome = py.detach(|| {
        thread::scope(|scope| {
            let (sender, receiver) = channel();
            let control = &control;
            let spawned = thread::Builder::new().spawn_scoped(scope, move || {
                if let Some(work) = take() {
                    // The receiver outlives this thread, so a failed send cannot lose a result.
                    let _ = sender.send(work(control));
                }
            });
            let Ok(worker) = spawned else { return (take().map(|work| work(control)), None) };
            let mut raised = None;
            loop {
                match receiver.recv_timeout(POLL) {
                    Ok(result) => return (Some(result), raised),
                    Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                        raised = Python::attach(|py| watch(py, progress, control)).err();
                        if raised.is_some() {
                            control.stop();
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        // Joined here, a panic stays a value and never crosses the border.
                        let _ = worker.join();
                        return (None, raised);
                    }
                }
            }
        })
    });
    match outcome {
        (_, Some(raised)) => Err(raised),
        (Some(result), None) => {
            if let Some(callback) = progress {
                callback.call1(py, (control.done(),))?;
            }
            result.map_err(|error| to_py_err(py, &error))
        }
        (None, None) => {
            Err(pyo3::exceptions::PySystemError::new_err("a worker thread ended without a result"))
        }
    }
}

/// Run `work`, watched for signals only when the text is long enough to be worth a thread.
pub fn run_sized<T: Send>(
    py: Python<'_>,
    n_bytes: usize,
    work: impl FnOnce(&Control) -> Result<T> + Send,
) -> PyResult<T> {
    if n_bytes > MAX_UNWATCHED_BYTES {
        return run_long(py, None, work);
    }
    py.detach(|| work(&Control::default())).map_err(|error| to_py_err(py, &error))
}

/// What `fill` appends, watched as by `run_sized`.
pub fn collect_sized<T: Send>(
    py: Python<'_>,
    n_bytes: usize,
    fill: impl FnOnce(&mut Vec<T>, &Control) -> Result<()> + Send,
) -> PyResult<Vec<T>> {
    run_sized(py, n_bytes, |control| {
        let mut out = Vec::new();
        fill(&mut out, control).map(|()| out)
    })
}

fn watch(py: Python<'_>, progress: Option<&Py<PyAny>>, control: &Control) -> PyResult<()> {
    py.check_signals()?;
    if let Some(callback) = progress {
        callback.call1(py, (control.done(),))?;
    }
    Ok(())
}
