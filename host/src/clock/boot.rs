//! The boot-time clock: it counts while the machine sleeps, as neither
//! `Instant` nor tokio's timers do, and sleeping by it does too.

use std::io;

use super::{Alarm, Clock};

/// The time since the machine started, sleep included.
///
/// Under Linux and Android this is `CLOCK_BOOTTIME` (clock_gettime(2)); on
/// other Unix systems `CLOCK_MONOTONIC`, which counts sleep on macOS.
#[derive(Debug, Clone, Copy, Default)]
pub struct BootClock;

impl Clock for BootClock {
    fn now(&self) -> u64 {
        system::now()
    }

    fn boot(&self) -> Option<String> {
        system::boot()
    }

    fn alarm(&self) -> io::Result<Box<dyn Alarm>> {
        Ok(Box::new(system::alarm()?))
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use std::io;
    use std::os::fd::OwnedFd;

    use rustix::time::{
        ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec,
        clock_gettime, timerfd_create, timerfd_settime,
    };

    use crate::clock::Alarm;

    const SECOND: u64 = 1_000_000_000;

    pub(super) fn now() -> u64 {
        let now = clock_gettime(ClockId::Boottime);
        // A time since the start is neither negative nor centuries long.
        now.tv_sec as u64 * SECOND + now.tv_nsec as u64
    }

    /// random(4): drawn by the kernel as the machine starts.
    pub(super) fn boot() -> Option<String> {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let id = id.trim();
        (!id.is_empty()).then(|| id.to_owned())
    }

    /// A timer that the kernel keeps by the same clock.
    pub(super) struct Timer(OwnedFd);

    pub(super) fn alarm() -> io::Result<Timer> {
        let timer = timerfd_create(TimerfdClockId::Boottime, TimerfdFlags::CLOEXEC)?;
        Ok(Timer(timer))
    }

    impl Alarm for Timer {
        fn set(&self, at: u64) {
            // 0 would stop the timer; what is past rings at once.
            let at = at.clamp(1, i64::MAX as u64);
            let zero = Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            let at = Timespec {
                tv_sec: (at / SECOND) as _,
                tv_nsec: (at % SECOND) as _,
            };
            let once = Itimerspec {
                it_interval: zero,
                it_value: at,
            };
            // The timer is open and the time is in range: nothing is left that
            // timerfd_settime(2) could refuse.
            let set = timerfd_settime(&self.0, TimerfdTimerFlags::ABSTIME, &once);
            debug_assert!(set.is_ok());
        }

        fn wait(&self) {
            let mut rung = [0; 8];
            // Interrupted or not, who waits looks at the clock.
            let _ = rustix::io::read(&self.0, &mut rung);
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    use std::io;
    use std::sync::{Condvar, Mutex, PoisonError};
    use std::time::Duration;

    use crate::clock::Alarm;

    /// A sleep may stand still while the machine does, so none is longer.
    const LONGEST_SLEEP: Duration = Duration::from_secs(1);

    #[cfg(unix)]
    pub(super) fn now() -> u64 {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    }

    #[cfg(not(unix))]
    pub(super) fn now() -> u64 {
        use std::sync::LazyLock;
        use std::time::Instant;
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed().as_nanos() as u64
    }

    #[derive(Default)]
    pub(super) struct Sleeper {
        at: Mutex<Option<u64>>,
        changed: Condvar,
    }

    pub(super) fn alarm() -> io::Result<Sleeper> {
        Ok(Sleeper::default())
    }

    impl Alarm for Sleeper {
        fn set(&self, at: u64) {
            *self.at.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
            self.changed.notify_one();
        }

        fn wait(&self) {
            let mut at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
            loop {
                let left = at.map(|at| Duration::from_nanos(at.saturating_sub(now())));
                if left == Some(Duration::ZERO) {
                    *at = None;
                    return;
                }
                let sleep = left.map_or(LONGEST_SLEEP, |left| left.min(LONGEST_SLEEP));
                let slept = self.changed.wait_timeout(at, sleep);
                at = slept.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // LOCK-11
    #[test]
    fn an_alarm_rings_when_its_moment_has_come_and_not_before() {
        let clock = BootClock;
        let alarm = clock.alarm().expect("a timer");
        for ahead in [0, 1, 20_000_000] {
            let at = clock.now() + ahead;
            alarm.set(at);
            alarm.wait();
            assert!(clock.now() >= at);
        }
    }

    // LOCK-11
    #[test]
    fn an_alarm_can_be_set_earlier_while_it_is_waited_for() {
        let clock = BootClock;
        let alarm = clock.alarm().expect("a timer");
        alarm.set(clock.now() + 3_600_000_000_000);
        std::thread::scope(|scope| {
            scope.spawn(|| alarm.wait());
            alarm.set(0);
        });
    }
}
