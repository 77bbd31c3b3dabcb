//! What the calls of a hybrid's code may have changed: the worker must not repeat it.

use std::sync::Arc;

use super::{CallContext, CallFrame};

impl<S> CallContext<S> {
    /// Notes that a tool is asked before the worker, in the call of the worker.
    pub(crate) fn set_answers_first(&self) {
        // Set again if the worker is called again.
        _ = self.frame().extras_or_default().answers_first.set(());
    }

    /// Notes that this call, of a tool of this name, may change something: in its callers, up to the outermost hybrid.
    pub(crate) fn note_acted(&self, tool: &Arc<str>) {
        let is_hybrid = |frame: &CallFrame| frame.extras().is_some_and(|extras| extras.answers_first.get().is_some());
        let hybrids = self.frames().skip(1).enumerate().filter(|(_, frame)| is_hybrid(frame));
        let Some((outermost, _)) = hybrids.last() else { return };
        for frame in self.frames().skip(1).take(outermost + 1) {
            let mut acted = frame.extras_or_default().effects.acted.get_or_default();
            if !acted.contains(tool) {
                acted.push(Arc::clone(tool));
            }
        }
    }

    /// Returns the tools whose calls inside this one may have changed something, as far as they were noted.
    pub(crate) fn acted(&self) -> Vec<Arc<str>> {
        let acted = self.frame().extras().and_then(|extras| extras.effects.acted.get());
        acted.map(|acted| acted.clone()).unwrap_or_default()
    }
}
