import { type ReactNode, useId } from 'react';
import classes from './panel.module.css';

type PanelProps = {
  title: string;
  aside?: ReactNode;
  /** Tables run to the edges; text and charts keep a margin. */
  flush?: boolean;
  children: ReactNode;
};

/** A titled region of a page. */
export function Panel({ title, aside, flush = false, children }: PanelProps) {
  const headingId = useId();
  return (
    <section className={classes.panel} aria-labelledby={headingId}>
      <header className={classes.head}>
        <h2 id={headingId} className={classes.title}>
          {title}
        </h2>
        <div className={classes.aside}>{aside}</div>
      </header>
      <div className={flush ? classes.flush : classes.body}>{children}</div>
    </section>
  );
}
