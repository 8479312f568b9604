import type { ReactNode } from 'react';
import classes from './empty-state.module.css';

type EmptyStateProps = { title: string; children?: ReactNode };

/** Nothing is here, and what would put something here. */
export function EmptyState({ title, children }: EmptyStateProps) {
  return (
    <div className={classes.empty}>
      <p className={classes.title}>{title}</p>
      {children ? <div className={classes.next}>{children}</div> : null}
    </div>
  );
}
