//! One download of a file at a time, on the whole machine.

use std::fs::{self, File, TryLockError};
use std::io;
use std::time::Duration;

use tokio::time::sleep;

use super::super::checksum::Checksum;
use super::super::hub_file::HubFile;
use super::{HubCache, folder_name};

/// How often it is looked whether another download has ended.
const GLANCE: Duration = Duration::from_millis(100);

impl HubCache {
    /// Waits until nobody else fetches that content, and keeps others from it until the file is dropped.
    ///
    /// `busy` is called once if somebody else does.
    pub(in super::super) async fn lock(
        &self,
        file: &HubFile,
        checksum: &Checksum,
        busy: impl FnOnce(),
    ) -> io::Result<File> {
        let folder = self.root.join(".locks").join(folder_name(file));
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{checksum}.lock"));
        let lock = File::options().create(true).truncate(false).write(true).open(path)?;
        let mut busy = Some(busy);
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::WouldBlock) => {
                    if let Some(busy) = busy.take() {
                        busy();
                    }
                    sleep(GLANCE).await;
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }
}
