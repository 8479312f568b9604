use super::*;

#[test]
fn notes_without_number_hide_no_fault() {
    let mut findings = Findings::default();
    let add = |findings: &mut Findings, kind, count| {
        for _ in 0..count {
            findings.add_in_file(kind, (PathBuf::new(), 0), 0, String::new());
        }
    };
    add(
        &mut findings,
        FindingKind::AbsentQueue,
        FINDINGS_KEPT_MAX + 7,
    );
    add(&mut findings, FindingKind::DamagedIndex, 2);

    assert_eq!(findings.count(), FINDINGS_KEPT_MAX as u64 + 9);
    assert_eq!(findings.kept().len(), FINDINGS_KEPT_MAX);
    let faults = findings.kept().iter().filter(|kept| !kept.kind.is_note());
    assert_eq!(faults.count(), 2);

    add(&mut findings, FindingKind::DamagedIndex, FINDINGS_KEPT_MAX);

    assert_eq!(findings.kept().len(), FINDINGS_KEPT_MAX);
    assert!(findings.kept().iter().all(|kept| !kept.kind.is_note()));
}
