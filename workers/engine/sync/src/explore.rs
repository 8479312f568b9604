//! Running a test under many schedules.

use std::env;
use std::sync::Arc;

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, MaxSteps, Runner};

/// Opening a store takes more than the default.
const STACK_SIZE: usize = 1 << 20;
/// More than any schedule that makes progress needs.
const STEP_COUNT_MAX: usize = 200_000;
/// So many of the turns are taken away where it may matter; the rest of the schedule runs straight on.
const PREEMPTION_COUNT: usize = 3;

/// Runs `work` under many schedules, half of them with random turns and half with few preemptions.
///
/// The environment variable `variable` says how many, else it is `usual_count`. `REGENT_SCHEDULE_SEED`
/// chooses others. Work that never ends fails, and each failure prints its schedule.
///
/// # Panics
/// As `work` does under one of the schedules; or a variable is not a number.
pub fn explore(variable: &str, usual_count: usize, work: impl Fn() + Send + Sync + 'static) {
    let count = number(variable).map_or(usual_count, |count| {
        usize::try_from(count).unwrap_or(usize::MAX)
    });
    let seed = number("REGENT_SCHEDULE_SEED").unwrap_or(1);
    let work = Arc::new(work);
    run(
        RandomScheduler::new_from_seed(seed, count.div_ceil(2)),
        &work,
    );
    run(
        PctScheduler::new_from_seed(seed, PREEMPTION_COUNT, count.div_ceil(2)),
        &work,
    );
}

fn run(scheduler: impl Scheduler + 'static, work: &Arc<impl Fn() + Send + Sync + 'static>) {
    let mut config = Config::new();
    config.stack_size = STACK_SIZE;
    config.max_steps = MaxSteps::FailAfter(STEP_COUNT_MAX);
    // Of atomics it knows: no schedule reorders what one thread does.
    config.silence_warnings = true;
    let work = Arc::clone(work);
    Runner::new(scheduler, config).run(move || work());
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().expect("a whole number"))
}
