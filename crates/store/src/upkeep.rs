//! Keeping the artifacts up to date.

use std::path::PathBuf;
use std::sync::Arc;

use crate::artifact::ArtifactFile;
use crate::error::StoreError;
use crate::read::Reader;
use crate::resident::{self, Identity, Plan, Resident};
use crate::sqlite::schema::{State, read_state};
use crate::store::SqliteVecStore;
use crate::vec0;

impl SqliteVecStore {
    /// Brings `vec0` to the present state. No fact changes, so the epoch stays.
    pub(crate) fn update_vec0(&self) -> Result<(), StoreError> {
        self.write_vec0(vec0::update)
    }

    pub(crate) fn rebuild_vec0(&self) -> Result<(), StoreError> {
        self.write_vec0(vec0::rebuild)
    }

    fn write_vec0(
        &self,
        work: impl FnOnce(&rusqlite::Connection, State, usize) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        if !self.options().access.may_write() {
            return Err(StoreError::ArtifactBehind {
                path: self.path().to_owned(),
            });
        }
        if self.dimension() > vec0::MOST_DIMENSIONS {
            return Err(StoreError::Options {
                problem: format!(
                    "vec0 takes vectors of up to {} components, and these have {}; use another \
                     route",
                    vec0::MOST_DIMENSIONS,
                    self.dimension()
                ),
            });
        }
        let mut connection = self.writer()?;
        let result = (|| {
            let behavior = rusqlite::TransactionBehavior::Immediate;
            let transaction = connection.transaction_with_behavior(behavior)?;
            let state = read_state(&transaction)?;
            work(&transaction, state, self.dimension())?;
            transaction.commit()
        })();
        result.map_err(|error| self.wrap("writing the vec0 table", error))
    }

    pub(crate) fn identity(&self) -> Identity {
        Identity::of(self.meta())
    }

    fn vec_file(&self) -> ArtifactFile {
        self.artifact(resident::SUFFIX)
    }

    pub(crate) fn vec_path(&self) -> PathBuf {
        self.vec_file().path().to_owned()
    }

    pub(crate) fn has_vec_file(&self) -> bool {
        self.vec_path().exists()
    }

    /// The newest resident vectors, of whatever state they are.
    pub(crate) fn resident_at_hand(&self) -> Option<Arc<Resident>> {
        self.resident.lock().clone()
    }

    pub(crate) fn discard_resident(&self) {
        *self.resident.lock() = None;
        self.vec_file().discard();
    }

    /// The resident vectors of the reader's state, brought up to date from those at hand or from
    /// the file, and saved when it is worth it.
    pub(crate) fn resident(
        &self,
        reader: &Reader<'_>,
        state: State,
    ) -> Result<Arc<Resident>, StoreError> {
        let _turn = self.bringing_up.lock();
        let base = match self.resident_at_hand() {
            Some(resident) if resident.state == state => return Ok(resident),
            Some(resident) => Some(resident),
            None => resident::load(&self.vec_path(), self.identity()).map(Arc::new),
        };
        let resident = match base {
            Some(base) if base.state == state => base,
            base => {
                let plan = Plan::new(base.as_deref(), reader, state, self.dimension())?;
                self.carry_out(plan, reader)?
            }
        };
        let line = self.line.lock();
        let mut held = self.resident.lock();
        let is_newer =
            |held: &Arc<Resident>| held.state.epoch > state.epoch && line.contains(held.state);
        if !held.as_ref().is_some_and(is_newer) {
            *held = Some(Arc::clone(&resident));
        }
        Ok(resident)
    }

    /// Writes the file and maps it when that is worth it; where that cannot be, reads what is
    /// missing into memory.
    fn carry_out(&self, plan: Plan<'_>, reader: &Reader<'_>) -> Result<Arc<Resident>, StoreError> {
        if self.options().access.may_write() && plan.is_worth_saving() {
            // A disk that is full costs the file, which is no more than speed.
            if let Ok(Some(saved)) = self.save(&plan, reader) {
                return Ok(saved);
            }
        }
        let (scattered, state) = (plan.is_scattered(), plan.state());
        let resident = plan.read(reader)?;
        if !scattered {
            return Ok(Arc::new(resident));
        }
        match resident::compact(&resident) {
            Ok(compact) => Ok(Arc::new(compact)),
            Err(_) => {
                let plan = Plan::new(None, reader, state, self.dimension())?;
                plan.read(reader).map(Arc::new)
            }
        }
    }

    /// Writes the `.vec` file, unless there is one that holds all rows and few besides.
    pub(crate) fn save_resident(
        &self,
        reader: &Reader<'_>,
        state: State,
    ) -> Result<(), StoreError> {
        let _turn = self.bringing_up.lock();
        let held = self.resident_at_hand();
        let is_saved = |held: &Arc<Resident>| held.state == state && held.unsaved() == 0;
        if held.as_ref().is_some_and(is_saved) && self.has_vec_file() {
            return Ok(());
        }
        let load = || resident::load(&self.vec_path(), self.identity()).map(Arc::new);
        let base = held.or_else(load);
        let plan = Plan::new(base.as_deref(), reader, state, self.dimension())?;
        if plan.unsaved() == 0 && !plan.is_scattered() && self.has_vec_file() {
            let resident = Arc::new(plan.read(reader)?);
            *self.resident.lock() = Some(resident);
            return Ok(());
        }
        let saved = match self.save(&plan, reader) {
            // The rows that were to be copied may be damaged, which the facts are not.
            Err(StoreError::Corrupted { .. }) if base.is_some() => {
                self.save(&Plan::new(None, reader, state, self.dimension())?, reader)
            }
            result => result,
        }?;
        *self.resident.lock() = saved;
        Ok(())
    }

    /// Writes the `.vec` file and maps it. `None` when another process, which may be at another
    /// state, has put its own there meanwhile.
    fn save(
        &self,
        plan: &Plan<'_>,
        reader: &Reader<'_>,
    ) -> Result<Option<Arc<Resident>>, StoreError> {
        let file = self.vec_file();
        resident::save(plan, reader, self.identity(), &file)?;
        let loaded = resident::load(file.path(), self.identity());
        let ours = loaded.filter(|loaded| loaded.state == plan.state());
        Ok(ours.map(Arc::new))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use cornu_core::{Acl, ContentHash, DocId, DocumentFacts, FactStore, Fingerprint, Principal};
    use ndarray::{Array2, aview1};

    use crate::{Options, Route, SqliteVecStore};

    /// Somebody brings the vectors up to date for a commit that the asker does not see.
    #[test]
    fn nobody_waits_for_vectors_that_they_do_not_see() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options {
            route: Route::Resident,
            ..Options::default()
        };
        let path = folder.path().join("index.db");
        let store = SqliteVecStore::open(path, &Fingerprint::new("m"), 2, &options).unwrap();
        let write = |name: &str, grant: &str| {
            let facts = DocumentFacts {
                doc: DocId::new(name).unwrap(),
                content: ContentHash::of(name.as_bytes()),
                acl: Acl::new([grant]).unwrap(),
                chunks: vec![],
                vectors: Array2::zeros((0, 2)),
            };
            store.upsert(&facts).unwrap();
        };
        let ask = || {
            let snapshot = store.snapshot(&Principal::public()).unwrap();
            snapshot.knn(aview1(&[1.0, 0.0]), 5).map(drop).unwrap();
        };
        write("a.md", "public");
        ask();
        write("b.md", "hr");
        let (done, is_done) = mpsc::channel();
        thread::scope(|scope| {
            let turn = store.bringing_up.lock();
            scope.spawn(|| {
                ask();
                done.send(()).unwrap();
            });
            let in_time = is_done.recv_timeout(Duration::from_secs(20)).is_ok();
            drop(turn);
            assert!(in_time, "waited for what is not seen");
        });
    }
}
