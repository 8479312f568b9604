import { useTranslation } from 'react-i18next';
import { Advice } from '@/components/advice';
import { StateMark } from '@/components/state-mark';
import { formatDateTime } from '@/lib/format';
import { evidenceOf, type Finding, toneOf } from './finding';
import classes from './finding-list.module.css';
import { SubjectLink } from './subject-link';

/** What is or was wrong: the severity, the subject, the evidence and the advice. */
export function FindingList({ findings }: { findings: Finding[] }) {
  const { t } = useTranslation();
  return (
    <ul className={classes.list} aria-label={t('findings.title')}>
      {findings.map((one) => {
        const evidence = evidenceOf(one);
        return (
          <li key={one.id} className={classes.finding}>
            <div className={classes.head}>
              <StateMark
                tone={toneOf(one)}
                label={t(one.closedAt === null ? `severity.${one.severity}` : 'findings.ended')}
              />
              <strong>{one.title}</strong>
              <SubjectLink finding={one} />
            </div>
            {one.sentence ? (
              <p>
                <Advice>{one.sentence}</Advice>
              </p>
            ) : null}
            {evidence ? <p className={classes.evidence}>{evidence}</p> : null}
            <p>
              <Advice>{one.advice}</Advice>
            </p>
            <p className={classes.times}>
              {t('findings.since', { since: formatDateTime(Date.parse(one.since)) })}
              {one.closedAt === null
                ? null
                : ` · ${t('findings.until', { until: formatDateTime(Date.parse(one.closedAt)) })}`}
            </p>
          </li>
        );
      })}
    </ul>
  );
}
