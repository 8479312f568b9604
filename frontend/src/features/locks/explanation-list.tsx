import { useTranslation } from 'react-i18next';
import { StateMark } from '@/components/state-mark';
import { formatInt64 } from '@/lib/format';
import classes from './explanation-list.module.css';
import { type Explanation, pauseTone } from './lock';

/** For each queue one sentence that says why it stands still, and the evidence for it. */
export function ExplanationList({ explanations }: { explanations: Explanation[] }) {
  const { t } = useTranslation();
  return (
    <ul className={classes.list} aria-label={t('why.answers')}>
      {explanations.map((one) => (
        <li key={`${one.brokerGroupName}/${one.queueId}`} className={classes.one}>
          <div className={classes.head}>
            <StateMark tone={pauseTone(one)} label={t(`pauseCause.${one.cause}`)} />
            {one.lag === null ? null : (
              <span className={classes.lag}>
                {t('why.lag', { count: Number(one.lag), lag: formatInt64(one.lag) })}
              </span>
            )}
          </div>
          <p className={classes.sentence}>{one.sentence}</p>
          {one.evidence.length > 0 ? (
            <ul className={classes.evidence}>
              {one.evidence.map((entry) => (
                <li key={entry}>{entry}</li>
              ))}
            </ul>
          ) : null}
        </li>
      ))}
    </ul>
  );
}
