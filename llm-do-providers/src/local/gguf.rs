//! A model's file, read into a model.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use candle_core::Device;
use candle_core::quantized::gguf_file::{Content, TensorInfo};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_transformers::models::quantized_llama::ModelWeights;

use super::fault;
use super::vocabulary::Vocabulary;
use crate::error::ProviderError;

/// What a header may say at most of any size: far above models that fit here, far below what exhausts memory.
const LARGEST: u32 = 1 << 18;

/// The header's sizes that candle allocates by before it looks at any tensor.
const SIZES: [&str; 5] = [
    "llama.block_count",
    "llama.embedding_length",
    "llama.rope.dimension_count",
    "llama.expert_count",
    "llama.attention.head_count",
];

/// Reads a model and its vocabulary.
pub(super) fn read(path: &Path) -> Result<(ModelWeights, Vocabulary), ProviderError> {
    let unreadable = |source: candle_core::Error| {
        let text = format!("`{}` is not a model file that can be read; fetch it anew", path.display());
        fault::configuration(text).with_source(source)
    };
    let mut file = BufReader::new(File::open(path).map_err(|source| unreadable(source.into()))?);
    let content = Content::read(&mut file).map_err(unreadable)?;
    check_sizes(&content).map_err(unreadable)?;
    let vocabulary = Vocabulary::read(&content)?;
    check_rows(&content, vocabulary.pieces().len()).map_err(unreadable)?;
    let (content, mut reader) = requantise(content, file).map_err(unreadable)?;
    let weights = ModelWeights::from_gguf(content, &mut reader, &Device::Cpu).map_err(unreadable)?;
    Ok((weights, vocabulary))
}

/// Refuses a header whose sizes no model has.
fn check_sizes(content: &Content) -> candle_core::Result<()> {
    let stated = |key: &str| content.metadata.get(key).and_then(|value| value.to_u32().ok());
    match SIZES.iter().find(|key| stated(key).is_some_and(|size| size > LARGEST)) {
        Some(key) => candle_core::bail!("`{key}` is too large"),
        None => Ok(()),
    }
}

/// Refuses a file with more or fewer rows than tokens.
fn check_rows(content: &Content, tokens: usize) -> candle_core::Result<()> {
    let rows = content.tensor_infos.get("token_embd.weight").and_then(|info| info.shape.dims().first());
    if rows != Some(&tokens) {
        candle_core::bail!("the file has {tokens} tokens and {rows:?} rows for them")
    }
    Ok(())
}

/// Returns the file as one in which every tensor of type `Q4_1` has type `Q8_0`.
///
/// candle has no fast kernel for `Q4_1` on x86: it would be three to five times slower. The tensors are converted one
/// at a time while they are read, so that the file never lies in memory twice.
fn requantise(content: Content, file: BufReader<File>) -> candle_core::Result<(Content, Requantised)> {
    let mut reader = Requantised::new(content.tensor_data_offset, file)?;
    let mut tensors = HashMap::with_capacity(content.tensor_infos.len());
    for (name, info) in content.tensor_infos {
        tensors.insert(name, reader.add(info)?);
    }
    Ok((Content { tensor_infos: tensors, tensor_data_offset: 0, ..content }, reader))
}

/// A reader of tensors, laid out one after the other as they will be once converted.
struct Requantised {
    file: BufReader<File>,
    length: u64,
    data: u64,
    tensors: BTreeMap<u64, TensorInfo>,
    end: u64,
    position: u64,
    current: Option<(u64, Vec<u8>)>,
}

impl Requantised {
    /// Returns a reader without tensors; `data` is where they begin in the file.
    fn new(data: u64, file: BufReader<File>) -> candle_core::Result<Self> {
        let length = file.get_ref().metadata()?.len();
        Ok(Self { file, length, data, tensors: BTreeMap::new(), end: 0, position: 0, current: None })
    }

    /// Lays out one more tensor; returns where it is and of what type.
    fn add(&mut self, info: TensorInfo) -> candle_core::Result<TensorInfo> {
        let outside = || candle_core::Error::Msg("a tensor lies outside of the file".to_owned()).bt();
        let stored = size(&info, info.ggml_dtype).ok_or_else(outside)?;
        let last = self.data.checked_add(info.offset).and_then(|start| start.checked_add(stored));
        last.filter(|last| *last <= self.length).ok_or_else(outside)?;
        let ggml_dtype = target(info.ggml_dtype);
        let laid = TensorInfo { ggml_dtype, shape: info.shape.clone(), offset: self.end };
        self.end += size(&info, ggml_dtype).ok_or_else(outside)?;
        self.tensors.insert(laid.offset, info);
        Ok(laid)
    }

    /// Returns the bytes from the position to the end of the tensor there.
    fn rest(&mut self) -> candle_core::Result<&[u8]> {
        let Some((&start, info)) = self.tensors.range(..=self.position).next_back() else { return Ok(&[]) };
        if self.current.as_ref().is_none_or(|(current, _)| *current != start) {
            self.current = None;
            let tensor = info.read(&mut self.file, self.data, &Device::Cpu)?;
            self.current = Some((start, convert(tensor)?));
        }
        let bytes = self.current.as_ref().map(|(_, bytes)| bytes.as_slice()).unwrap_or_default();
        let skipped = usize::try_from(self.position - start).unwrap_or(usize::MAX);
        Ok(bytes.get(skipped..).unwrap_or_default())
    }
}

impl Read for Requantised {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = self.rest().map_err(io::Error::other)?;
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for Requantised {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(by) => self.end.checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

/// Returns the type that tensors of type `stored` are read as.
fn target(stored: GgmlDType) -> GgmlDType {
    if stored == GgmlDType::Q4_1 { GgmlDType::Q8_0 } else { stored }
}

/// Returns the bytes of `tensor` in the type that it is read as.
fn convert(tensor: QTensor) -> candle_core::Result<Vec<u8>> {
    let target = target(tensor.dtype());
    if target == tensor.dtype() {
        return Ok(tensor.data()?.into_owned());
    }
    let values = tensor.dequantize(&Device::Cpu)?;
    drop(tensor);
    Ok(QTensor::quantize(&values, target)?.data()?.into_owned())
}

/// Returns how many bytes a tensor of that shape has in type `kind`, unless there are more than can be counted.
fn size(info: &TensorInfo, kind: GgmlDType) -> Option<u64> {
    let elements = info.shape.dims().iter().try_fold(1_usize, |product, size| product.checked_mul(*size))?;
    let bytes = (elements / kind.block_size()).checked_mul(kind.type_size())?;
    u64::try_from(bytes).ok()
}
