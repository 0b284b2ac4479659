//! Keeping the artifacts up to date.

use std::path::PathBuf;
use std::sync::Arc;

use cornu_core::View;

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

    /// The resident vectors at hand, if they are of the reader's state, or of one that it came from
    /// and that had all documents of the view: commits that the asker does not see leave nothing to
    /// do.
    pub(crate) fn resident_at_hand(
        &self,
        reader: &Reader<'_>,
        state: State,
        view: &View,
    ) -> Result<Option<Arc<Resident>>, StoreError> {
        // While another thread brings them up to date, waiting for it is right.
        let Some(held) = self.resident.lock().clone() else {
            return Ok(None);
        };
        let serves = held.state == state
            || held.has_room_for(view) && self.follows(reader, held.state, state)?;
        Ok(serves.then_some(held))
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
        let mut held = self.resident.lock();
        let base = match held.as_ref() {
            Some(resident) if resident.state == state => return Ok(Arc::clone(resident)),
            Some(resident) => Some(Arc::clone(resident)),
            None => resident::load(&self.vec_path(), self.identity()).map(Arc::new),
        };
        let resident = match base {
            Some(base) if base.state == state => base,
            base => {
                let plan = Plan::new(base.as_deref(), reader, state, self.dimension())?;
                self.carry_out(plan, reader)?
            }
        };
        let newer = held
            .as_ref()
            .is_none_or(|held| held.state.epoch <= state.epoch);
        if newer {
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
        let mut held = self.resident.lock();
        let is_saved = |held: &Arc<Resident>| held.state == state && held.unsaved() == 0;
        if held.as_ref().is_some_and(is_saved) && self.has_vec_file() {
            return Ok(());
        }
        let base = match held.take() {
            Some(held) => Some(held),
            None => resident::load(&self.vec_path(), self.identity()).map(Arc::new),
        };
        let plan = Plan::new(base.as_deref(), reader, state, self.dimension())?;
        if plan.unsaved() == 0 && !plan.is_scattered() && self.has_vec_file() {
            *held = Some(Arc::new(plan.read(reader)?));
            return Ok(());
        }
        *held = match self.save(&plan, reader) {
            // The rows that were to be copied may be damaged, which the facts are not.
            Err(StoreError::Corrupted { .. }) if base.is_some() => {
                self.save(&Plan::new(None, reader, state, self.dimension())?, reader)
            }
            result => result,
        }?;
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
