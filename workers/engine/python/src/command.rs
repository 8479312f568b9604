//! Commands and their codec.

use std::sync::Mutex;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyDict, PyMapping};
use regent_hotpath::PullAnswer;
use regent_remoting as remoting;
use regent_remoting::{Encoding, Fields, FrameWriter, Language, limits};

use crate::error::{Failure, ProtocolError, detached};

/// A remoting command, received.
#[pyclass(frozen, get_all, module = "regent_engine")]
pub(crate) struct Command {
    pub(crate) code: i32,
    language: &'static str,
    version: i32,
    pub(crate) opaque: i32,
    pub(crate) flag: i32,
    remark: Option<String>,
    pub(crate) ext: Py<PyDict>,
    pub(crate) body: Py<PyBytes>,
    pub(crate) encoding: &'static str,
    is_response: bool,
    is_oneway: bool,
}

impl Command {
    pub(crate) fn new(py: Python<'_>, command: remoting::Command) -> PyResult<Self> {
        let ext = PyDict::new(py);
        for (key, value) in &command.ext {
            ext.set_item(key, value)?;
        }
        Ok(Self {
            code: command.code,
            language: command.language.name(),
            version: command.version,
            opaque: command.opaque,
            flag: command.flag,
            is_response: command.is_response(),
            is_oneway: command.is_oneway(),
            encoding: encoding_name(command.encoding),
            body: PyBytes::new(py, &command.body).unbind(),
            remark: command.remark,
            ext: ext.unbind(),
        })
    }
}

const FRAME_PREFIX_SIZE: usize = 8;

impl Command {
    /// Encode the header.
    pub(crate) fn header(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let mut frame = Vec::new();
        let fields = Fields {
            code: self.code,
            language: Language::find(self.language).unwrap_or(Language::JAVA),
            version: self.version,
            opaque: self.opaque,
            flag: self.flag,
            remark: self.remark.as_deref(),
        };
        let encoding = encoding_named(self.encoding)?;
        let mut writer = FrameWriter::begin(&mut frame, encoding, &fields);
        for (key, value) in text_pairs(self.ext.bind(py).as_any())? {
            writer.ext(&key, &value);
        }
        let written = writer.finish(&[]);
        written.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(frame.split_off(FRAME_PREFIX_SIZE))
    }
}

#[pymethods]
impl Command {
    fn __repr__(&self, py: Python<'_>) -> String {
        format!(
            "Command(code={}, opaque={}, flag={}, ext={}, body={} bytes, encoding={:?})",
            self.code,
            self.opaque,
            self.flag,
            self.ext.bind(py),
            self.body.as_bytes(py).len(),
            self.encoding,
        )
    }
}

/// Encode the answer of a pull without its body, which is sent behind it.
#[pyfunction]
#[pyo3(signature = (command, code, *, suggested_broker_id, next_offset, min_offset, max_offset, body_size=0, remark=None, offset_delta=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn encode_pull_answer<'py>(
    py: Python<'py>,
    command: &Command,
    code: i32,
    suggested_broker_id: i64,
    next_offset: u64,
    min_offset: u64,
    max_offset: u64,
    body_size: usize,
    remark: Option<&str>,
    offset_delta: Option<i64>,
) -> PyResult<Bound<'py, PyBytes>> {
    let answer = PullAnswer {
        opaque: command.opaque,
        code,
        remark,
        suggested_broker_id,
        next_offset,
        min_offset,
        max_offset,
        offset_delta,
        body_size,
    };
    // A few hundred bytes: to free the interpreter lock would cost more.
    let mut frame = Vec::with_capacity(256);
    answer
        .write(&mut frame, encoding_named(command.encoding)?)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(PyBytes::new(py, &frame))
}

fn encoding_name(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Json => "json",
        Encoding::RocketMq => "rocketmq",
    }
}

pub(crate) fn encoding_named(name: &str) -> PyResult<Encoding> {
    match name {
        "json" => Ok(Encoding::Json),
        "rocketmq" => Ok(Encoding::RocketMq),
        _ => Err(PyValueError::new_err(format!(
            "no encoding {name:?}: json or rocketmq"
        ))),
    }
}

/// Read a mapping from text to text.
pub(crate) fn text_pairs(mapping: &Bound<'_, PyAny>) -> PyResult<Vec<(PyBackedStr, PyBackedStr)>> {
    let mapping = mapping
        .cast::<PyMapping>()
        .map_err(|_| PyTypeError::new_err("a mapping from str to str is needed"))?;
    mapping.items()?.iter().map(|pair| pair.extract()).collect()
}

/// Encode a command as one frame.
#[pyfunction]
#[pyo3(signature = (*, code, opaque, flag=0, language="OTHER", version=513, remark=None, ext=None, body=None, body_size=None, encoding="json"))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(crate) fn encode_command<'py>(
    py: Python<'py>,
    code: i32,
    opaque: i32,
    flag: i32,
    language: &str,
    version: i32,
    remark: Option<&str>,
    ext: Option<&Bound<'py, PyAny>>,
    body: Option<&[u8]>,
    body_size: Option<usize>,
    encoding: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let encoding = encoding_named(encoding)?;
    let language = Language::find(language)
        .ok_or_else(|| PyValueError::new_err(format!("no language {language:?}")))?;
    let ext = ext.map(text_pairs).transpose()?.unwrap_or_default();
    if body.is_some() && body_size.is_some() {
        return Err(PyValueError::new_err(
            "give a body, or the size of one that follows",
        ));
    }
    let body = body.unwrap_or_default();
    let frame = detached(py, || {
        let mut frame = Vec::with_capacity(256 + body.len());
        let fields = Fields {
            code,
            language,
            version,
            opaque,
            flag,
            remark,
        };
        let mut writer = FrameWriter::begin(&mut frame, encoding, &fields);
        for (key, value) in &ext {
            writer.ext(key, value);
        }
        match body_size {
            Some(size) => drop(writer.finish_before(size)?),
            None => writer.finish(body)?,
        }
        Ok(frame)
    })?;
    Ok(PyBytes::new(py, &frame))
}

/// Turns one connection's bytes into commands.
#[pyclass(frozen, module = "regent_engine")]
pub(crate) struct Decoder(Mutex<remoting::Decoder>);

#[pymethods]
impl Decoder {
    #[new]
    #[pyo3(signature = (frame_size_max=limits::FRAME_SIZE_MAX_DEFAULT, *, header_size_max=limits::HEADER_SIZE_MAX))]
    fn new(frame_size_max: usize, header_size_max: usize) -> Self {
        Self(Mutex::new(remoting::Decoder::with_header_limit(
            frame_size_max,
            header_size_max,
        )))
    }

    /// Take a chunk and return the commands it completes.
    ///
    /// A broken stream raises `ProtocolError`, now and at every later call; the commands before
    /// the break are on the exception as `commands`.
    fn receive(&self, py: Python<'_>, data: &[u8]) -> PyResult<Vec<Command>> {
        let (commands, outcome) = detached(py, || {
            let mut commands = Vec::new();
            let mut decoder = self
                .0
                .lock()
                .map_err(|_| Failure::poisoned("the decoder refuses work after a panic"))?;
            let outcome = decoder.receive(data, &mut commands);
            Ok((commands, outcome))
        })?;
        let commands: PyResult<Vec<_>> = commands
            .into_iter()
            .map(|command| Command::new(py, command))
            .collect();
        let Err(error) = outcome else {
            return commands;
        };
        let exception = ProtocolError::new_err(error.to_string());
        exception.value(py).setattr("commands", commands?)?;
        Err(exception)
    }
}
