import { Figure } from '@/components/figure';
import { formatSeconds, formatSpan } from '@/lib/format';
import { unknown } from '@/lib/reading';

const minuteMs = 60_000;

/** How long the oldest message has been waiting. */
export function AgeFigure({ waitingMs }: { waitingMs: string | null }) {
  if (waitingMs === null) return <Figure reading={unknown} format={String} />;
  const age = Number(waitingMs);
  return age < minuteMs ? formatSeconds(age) : formatSpan(age);
}
