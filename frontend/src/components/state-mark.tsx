import type { ReactNode } from 'react';
import classes from './state-mark.module.css';

export type StateTone = 'good' | 'warn' | 'bad' | 'idle' | 'busy' | 'unknown';

type StateMarkProps = {
  tone: StateTone;
  /** A word, or a sentence in which commands are set apart. */
  label: ReactNode;
  /** A sentence breaks into lines, a word does not. */
  wraps?: boolean;
};

/** A state in a word with a shape before it, so that colour is never the only difference. */
export function StateMark({ tone, label, wraps = false }: StateMarkProps) {
  return (
    <span className={classes.state} data-tone={tone} data-wraps={wraps}>
      <span className={classes.mark} aria-hidden />
      {typeof label === 'string' ? label : <span>{label}</span>}
    </span>
  );
}
