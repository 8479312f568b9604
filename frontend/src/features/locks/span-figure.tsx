import { formatSpan } from '@/lib/format';
import { useNow } from '@/lib/use-now';
import { agedMs } from './lock';

type SpanFigureProps = { toldMs: string; observedAt: string };

/** How long something has lasted, growing from what its broker told. */
export function SpanFigure({ toldMs, observedAt }: SpanFigureProps) {
  return formatSpan(agedMs(toldMs, observedAt, useNow()));
}
