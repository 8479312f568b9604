import classes from './state-mark.module.css';

export type StateTone = 'good' | 'warn' | 'bad' | 'idle' | 'busy' | 'unknown';

/** A state in a word with a shape before it, so that colour is never the only difference. */
export function StateMark({ tone, label }: { tone: StateTone; label: string }) {
  return (
    <span className={classes.state} data-tone={tone}>
      <span className={classes.mark} aria-hidden />
      {label}
    </span>
  );
}
