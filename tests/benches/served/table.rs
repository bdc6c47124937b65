//! Subjects in turns, and what is printed of them.

use super::subjects::Named;
use super::turn::{Figures, median};
use super::{TURN, TURNS};

/// Prints each subject's figures, and how many times the cycles of Redis and of the
/// echo it does.
pub fn compare(what: &str, mut subjects: Vec<Named>) {
    for (_, subject) in &mut subjects {
        subject(TURN);
    }
    let mut each: Vec<Vec<Figures>> = vec![Vec::new(); subjects.len()];
    for _ in 0..TURNS {
        for ((_, subject), each) in subjects.iter_mut().zip(&mut each) {
            each.push(subject(TURN).figures());
        }
    }
    let place = |name: &str| subjects.iter().position(|(known, _)| *known == name);
    let (redis, echo) = (place("Redis"), place("echo"));
    println!("\n{what}");
    println!(
        "  {:<28}{:>10}{:>10}{:>10}{:>9}{:>9}",
        "", "cycles/s", "p50, µs", "p99, µs", "x Redis", "x echo"
    );
    for ((name, _), own) in subjects.iter().zip(&each) {
        let of = |figure: fn(&Figures) -> f64| median(own.iter().map(figure));
        let ratio = |to: Option<usize>| match to {
            Some(to) => {
                let ratios = own
                    .iter()
                    .zip(&each[to])
                    .map(|(own, to)| own.rate / to.rate);
                format!("{:.2}", median(ratios))
            }
            None => "-".into(),
        };
        println!(
            "  {name:<28}{:>10.0}{:>10.1}{:>10.1}{:>9}{:>9}",
            of(|own| own.rate),
            of(|own| own.p50) * 1e6,
            of(|own| own.p99) * 1e6,
            ratio(redis),
            ratio(echo),
        );
    }
}
