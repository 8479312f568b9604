import { Figure } from '@/components/figure';
import { formatSeconds, formatSpan } from '@/lib/format';
import { unknown } from '@/lib/reading';

const minuteMs = 60_000;

type AgeFigureProps = { waitingMs: string | null; isApplicable?: boolean };

/** How long the oldest message has been waiting; nothing waits for a group that broadcasts. */
export function AgeFigure({ waitingMs, isApplicable = true }: AgeFigureProps) {
  if (!isApplicable) return '–';
  if (waitingMs === null) return <Figure reading={unknown} format={String} />;
  const age = Number(waitingMs);
  return age < minuteMs ? formatSeconds(age) : formatSpan(age);
}
