import { Figure } from '@/components/figure';
import { formatBytes } from '@/lib/format';
import { notCollected, unknown, value } from '@/lib/reading';
import classes from './day-cell.module.css';

type DayCellProps = { bytes: number | null | undefined; most: number };

const tintMax = 34;

/** One day of one topic: the bytes, on a tint that grows with them. */
export function DayCell({ bytes, most }: DayCellProps) {
  if (bytes === undefined) return <Figure reading={notCollected} format={formatBytes} />;
  if (bytes === null) return <Figure reading={unknown} format={formatBytes} />;
  const tint = Math.round((bytes / most) * tintMax);
  return (
    <span
      className={classes.cell}
      style={{ background: `color-mix(in srgb, var(--accent) ${tint}%, transparent)` }}
    >
      <Figure reading={value(bytes)} format={formatBytes} />
    </span>
  );
}
