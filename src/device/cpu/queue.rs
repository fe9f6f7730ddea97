//! The work queue of the CPU device: tasks are taken in order by whichever thread is free.
//! Knows nothing of what a task does.

use rayon::ThreadPool;
use std::sync::Mutex;

/// Runs `work` on every task. Tasks are handed out in the order of the list, so that a list sorted heaviest first ends
/// with the light ones. What a task computes must not depend on which thread runs it, or when.
pub fn run<T: Send>(pool: &ThreadPool, tasks: Vec<T>, work: impl Fn(T) + Sync) {
    if pool.current_num_threads() == 1 || tasks.len() < 2 {
        tasks.into_iter().for_each(work);
        return;
    }
    let queue = Mutex::new(tasks.into_iter());
    pool.broadcast(|_| {
        loop {
            // A poisoned lock means that a task panicked: the panic reaches the caller through `broadcast`.
            let task = match queue.lock() {
                Ok(mut queue) => queue.next(),
                Err(_) => return,
            };
            match task {
                Some(task) => work(task),
                None => return,
            }
        }
    });
}
