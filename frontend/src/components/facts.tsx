import type { ReactNode } from 'react';
import classes from './facts.module.css';

/** What there is to know of one thing in a line. */
export function Facts({ children }: { children: ReactNode }) {
  return <dl className={classes.facts}>{children}</dl>;
}
