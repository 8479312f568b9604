import { useTranslation } from 'react-i18next';
import { StateMark } from '@/components/state-mark';
import classes from './check-list.module.css';
import { checkTones, type Operation } from './operation';

/** What could go wrong, and why; a check that blocks stands there like the others. */
export function CheckList({ checks }: { checks: Operation['plan']['checks'] }) {
  const { t } = useTranslation();
  return (
    <ul className={classes.checks}>
      {checks.map((check) => (
        <li key={check.name + check.why}>
          <div className={classes.head}>
            <span className={classes.name}>{check.name}</span>
            <StateMark
              tone={checkTones[check.verdict]}
              label={t(`checkVerdict.${check.verdict}`)}
            />
          </div>
          <div className={classes.why}>
            {check.why}
            {check.stockCode === null ? null : (
              <span className={classes.code}>
                {' '}
                {t('plan.stockCode', { code: check.stockCode })}
              </span>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}
