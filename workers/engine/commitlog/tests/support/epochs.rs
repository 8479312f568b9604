//! Lists of epochs in the short form that tests give them.

use regent_commitlog::{Epoch, EpochList};

pub fn epoch(number: i32, start_position: u64) -> Epoch {
    Epoch {
        number,
        start_position,
    }
}

pub fn list(epochs: &[(i32, u64)]) -> EpochList {
    let mut list = EpochList::default();
    for (number, start) in epochs {
        list.append(epoch(*number, *start)).unwrap();
    }
    list
}

pub fn pairs(list: &EpochList) -> Vec<(i32, u64)> {
    let epochs = list.as_slice().iter();
    epochs
        .map(|epoch| (epoch.number, epoch.start_position))
        .collect()
}
