//! Encode a text that arrives in parts, giving the ids of the whole.

use crate::error::Result;
use crate::parallel::Control;
use crate::tokenizer::{Policy, Worker};
use crate::worker::locate;

/// The part of the text that is not encoded yet.
#[derive(Debug, Default)]
pub struct Tail {
    bytes: Vec<u8>,
    /// Length at which looking again is worth it: an unsettled tail is split again only when it
    /// has doubled, so that many small parts cost no more than one large one.
    retry_at: usize,
    /// Bytes of the text before `bytes`.
    n_done: usize,
}

impl Tail {
    /// Bytes that are not encoded yet.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Take the next part and append the ids that no later part can change.
    ///
    /// # Errors
    ///
    /// As `Worker::encode`.
    pub fn push(
        &mut self,
        part: &[u8],
        worker: &mut Worker<'_>,
        policy: &Policy,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        self.bytes.try_reserve(part.len())?;
        self.bytes.extend_from_slice(part);
        if self.bytes.len() < self.retry_at {
            return Ok(());
        }
        let tokenizer = worker.tokenizer();
        let recognized = tokenizer.recognized_from(&self.bytes, policy, self.n_done)?;
        let (special, normalized) = (&recognized.given, &recognized.normalized);
        let Some(splitter) = tokenizer.raw_splitter().filter(|_| special.are_plain()) else {
            // Whatever changes the text may look at all of it.
            self.retry_at = usize::MAX;
            return Ok(());
        };
        let open = tokenizer.open_end(&self.bytes, policy);
        let n_done = self.n_done;
        let mut at = 0;
        while let Some((start, end, id)) =
            special.find(&self.bytes, at).filter(|found| found.0 < open)
        {
            let segment = self.bytes.get(at..start).unwrap_or_default();
            worker
                .encode_segment(segment, false, normalized, ids, control)
                .map_err(|error| locate(error, n_done + at))?;
            ids.push(id);
            at = end;
        }
        let rest = self.bytes.get(at..open.max(at)).unwrap_or_default();
        let settled = splitter.settled(rest, control)?;
        let front = rest.get(..settled).unwrap_or_default();
        worker
            .encode_segment(front, false, normalized, ids, control)
            .map_err(|error| locate(error, n_done + at))?;
        self.bytes.drain(..at + settled);
        self.n_done += at + settled;
        self.retry_at = 2 * self.bytes.len();
        Ok(())
    }

    /// The text is over: append the ids of what is left.
    ///
    /// # Errors
    ///
    /// As `Worker::encode`.
    pub fn finish(
        &mut self,
        worker: &mut Worker<'_>,
        policy: &Policy,
        ids: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let bytes = std::mem::take(&mut self.bytes);
        self.retry_at = 0;
        let n_done = std::mem::take(&mut self.n_done);
        worker.tokenizer().recognized_from(&bytes, policy, n_done)?;
        worker.encode(&bytes, policy, ids, control).map_err(|error| locate(error, n_done))
    }
}
