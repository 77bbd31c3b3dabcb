//! Locks that allow one download of a file at a time on this machine.

use std::fs::{self, File, TryLockError};
use std::io;
use std::time::Duration;

use tokio::time::sleep;

use super::super::checksum::Checksum;
use super::super::hub_file::HubFile;
use super::{HubCache, folder_name};

/// The interval between attempts to take the lock.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

impl HubCache {
    /// Waits until no other process downloads that content, and locks it until the file is dropped.
    ///
    /// `on_wait` is called once if it has to wait.
    pub(in super::super) async fn lock(
        &self,
        file: &HubFile,
        checksum: &Checksum,
        on_wait: impl FnOnce(),
    ) -> io::Result<File> {
        let folder = self.root.join(".locks").join(folder_name(file));
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{checksum}.lock"));
        let lock = File::options().create(true).truncate(false).write(true).open(path)?;
        let mut on_wait = Some(on_wait);
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::WouldBlock) => {
                    if let Some(on_wait) = on_wait.take() {
                        on_wait();
                    }
                    sleep(POLL_INTERVAL).await;
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }
}
