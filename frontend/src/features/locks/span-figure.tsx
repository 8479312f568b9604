import { formatSpan } from '@/lib/format';
import { useNow } from '@/lib/use-now';
import { agedMs } from './lock';

type SpanFigureProps = { reportedMs: string; observedAt: string };

/** How long something has lasted: the span grows from what its broker reported. */
export function SpanFigure({ reportedMs, observedAt }: SpanFigureProps) {
  return formatSpan(agedMs(reportedMs, observedAt, useNow()));
}
