//! Reading model files in the GGUF format.

use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;
use std::panic::catch_unwind;
use std::path::Path;

use candle_core::quantized::gguf_file::{Content, TensorInfo, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Result, bail};

/// A file in the GGUF format.
///
/// The file is untrusted: every access checks presence, type and size.
#[derive(Debug)]
pub(super) struct Gguf {
    content: Content,
    file: BufReader<File>,
    /// The remaining budget for tensors, in bytes: the tensors cannot be larger than the file.
    bytes_left: u64,
    /// The names of the tensors read so far.
    read: HashSet<String>,
}

impl Gguf {
    /// Reads the header of the file at `path`.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path)?;
        let bytes_left = file.metadata()?.len();
        // candle divides by the alignment of the header, which may be 0.
        let read = catch_unwind(move || {
            let mut file = BufReader::new(file);
            Content::read(&mut file).map(|content| (content, file))
        });
        let (content, file) = read.unwrap_or_else(|_| bail!("invalid header: the alignment is 0"))?;
        Ok(Self { content, file, bytes_left, read: HashSet::new() })
    }

    /// Returns the string at `key`, if present.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        match self.content.metadata.get(key)? {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the non-negative integer at `key`, if present.
    pub(super) fn count(&self, key: &str) -> Option<usize> {
        usize::try_from(integer(self.content.metadata.get(key)?)?).ok()
    }

    /// Returns the non-negative integer at `key`, which must be present.
    pub(super) fn required_count(&self, key: &str) -> Result<usize> {
        self.count(key).map_or_else(|| bail!("the header has no integer `{key}`"), Ok)
    }

    /// Returns the finite number at `key`, if present.
    pub(super) fn number(&self, key: &str) -> Option<f32> {
        match self.content.metadata.get(key)? {
            Value::F32(number) => Some(*number).filter(|number| number.is_finite()),
            _ => None,
        }
    }

    /// Returns the boolean at `key`, if present.
    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        match self.content.metadata.get(key)? {
            Value::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    /// Returns the strings at `key`; empty if it is not a list of strings.
    pub(super) fn texts(&self, key: &str) -> Vec<&str> {
        self.list(key, |value| match value {
            Value::String(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Returns the numbers at `key`; empty if it is not a list of numbers.
    pub(super) fn numbers(&self, key: &str) -> Vec<f32> {
        self.list(key, |value| match value {
            Value::F32(number) => Some(*number),
            _ => None,
        })
    }

    /// Returns the integers at `key`; empty if it is not a list of integers.
    pub(super) fn integers(&self, key: &str) -> Vec<i64> {
        self.list(key, integer)
    }

    fn list<'a, T>(&'a self, key: &str, item: impl Fn(&'a Value) -> Option<T>) -> Vec<T> {
        match self.content.metadata.get(key) {
            Some(Value::Array(values)) => values.iter().map(item).collect::<Option<_>>().unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    /// Returns whether the file has a tensor `name`.
    pub(super) fn has(&self, name: &str) -> bool {
        self.content.tensor_infos.contains_key(name)
    }

    /// Returns the alphabetically first tensor that was not read.
    pub(super) fn unread(&self) -> Option<&str> {
        self.content.tensor_infos.keys().filter(|name| !self.read.contains(*name)).min().map(String::as_str)
    }

    /// Returns the tensor `name`, which must have the shape `sizes`.
    ///
    /// `Q4_1` tensors are converted to `Q8_0`: candle has no fast kernel for `Q4_1` on x86, which would be three to
    /// five times slower.
    pub(super) fn tensor(&mut self, name: &str, sizes: &[usize]) -> Result<QTensor> {
        let Some(info) = self.content.tensor_infos.get(name) else { bail!("missing tensor `{name}`") };
        if info.shape.dims() != sizes {
            bail!("the tensor `{name}` has the shape {:?}, expected {sizes:?}", info.shape.dims())
        }
        // candle checks that the tensor lies within the file.
        let Some(bytes_left) = bytes(info).and_then(|bytes| self.bytes_left.checked_sub(bytes)) else {
            bail!("the tensors up to `{name}` are larger than the file")
        };
        self.bytes_left = bytes_left;
        self.read.insert(name.to_owned());
        let tensor = info.read(&mut self.file, self.content.tensor_data_offset, &Device::Cpu)?;
        if tensor.dtype() != GgmlDType::Q4_1 {
            return Ok(tensor);
        }
        let values = tensor.dequantize(&Device::Cpu)?;
        drop(tensor);
        QTensor::quantize(&values, GgmlDType::Q8_0)
    }
}

/// Returns an integer of any width.
fn integer(value: &Value) -> Option<i64> {
    match *value {
        Value::U8(number) => Some(number.into()),
        Value::I8(number) => Some(number.into()),
        Value::U16(number) => Some(number.into()),
        Value::I16(number) => Some(number.into()),
        Value::U32(number) => Some(number.into()),
        Value::I32(number) => Some(number.into()),
        Value::U64(number) => i64::try_from(number).ok(),
        Value::I64(number) => Some(number),
        _ => None,
    }
}

/// Returns the size of a tensor in bytes; `None` if it overflows.
fn bytes(info: &TensorInfo) -> Option<u64> {
    let elements = info.shape.dims().iter().try_fold(1_usize, |product, size| product.checked_mul(*size))?;
    let bytes = (elements / info.ggml_dtype.block_size()).checked_mul(info.ggml_dtype.type_size())?;
    u64::try_from(bytes).ok()
}
