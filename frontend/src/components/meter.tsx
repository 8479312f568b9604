import classes from './meter.module.css';

type MeterProps = {
  /** Where the filled part ends, and where it begins, as fractions of the whole. */
  end: number;
  start?: number;
  label: string;
  tone?: 'plain' | 'warn' | 'bad';
};

/** A thin bar beside a figure that says the same; for comparing rows at a glance. */
export function Meter({ end, start = 0, label, tone = 'plain' }: MeterProps) {
  const from = Math.min(1, Math.max(0, start));
  const to = Math.min(1, Math.max(from, end));
  return (
    <span className={classes.track} role="img" aria-label={label}>
      {from > 0 ? <span className={classes.before} style={{ width: `${from * 100}%` }} /> : null}
      <span
        className={classes.fill}
        data-tone={tone}
        style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }}
      />
    </span>
  );
}
