import type { ReactNode } from 'react';
import classes from './long-list.module.css';

/** Lists of more entries than these scroll within their panel. */
export const longFrom = 12;

type LongListProps = { label: string; count: number; children: ReactNode };

/** A list that scrolls within its panel once it is long, by keys too. */
export function LongList({ label, count, children }: LongListProps) {
  if (count <= longFrom) return children;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus
    <section className={classes.scroller} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
