import { useTranslation } from 'react-i18next';
import { StateMark } from '@/components/state-mark';
import { formatClock, formatSeconds } from '@/lib/format';
import { type Step, stepTone } from './operation';
import { StepJournal } from './step-journal';
import classes from './step-list.module.css';

type StepItemProps = {
  step: Step;
  /** A plan's steps have no state yet. */
  isPlanned: boolean;
  /** It is one of many: its journal is read on demand. */
  isFolded: boolean;
  /** The report of a running step may be old. */
  isStale: boolean;
};

/** One step: what it does, how it stands, when, and what it found and left. */
export function StepItem({ step, isPlanned, isFolded, isStale }: StepItemProps) {
  const { t } = useTranslation();
  const { state, beganAt, endedAt, attemptCount, error } = step;
  const took =
    beganAt && endedAt ? formatSeconds(Date.parse(endedAt) - Date.parse(beganAt)) : undefined;
  return (
    <li className={classes.step} data-state={isPlanned ? 'PLANNED' : state}>
      <div className={classes.head}>
        <span className={classes.title}>{step.title}</span>
        {isPlanned ? null : (
          <span className={classes.state}>
            <StateMark
              tone={isStale ? 'unknown' : stepTone(state)}
              label={t(`stepState.${state}`, { defaultValue: state.toLowerCase() })}
            />
          </span>
        )}
      </div>
      {beganAt ? (
        <div className={classes.times}>
          {took === undefined
            ? t('step.since', { time: formatClock(Date.parse(beganAt)) })
            : t('step.took', { time: formatClock(Date.parse(beganAt)), took })}
          {attemptCount > 1 ? ` · ${t('step.attempts', { count: attemptCount })}` : null}
        </div>
      ) : null}
      {error ? <div className={classes.error}>{error}</div> : null}
      {isPlanned ? null : <StepJournal step={step} isFolded={isFolded} />}
    </li>
  );
}
