import { Figure } from '@/components/figure';
import { formatInt64 } from '@/lib/format';
import { notCollected } from '@/lib/reading';

/** A queue offset, all 64 bits of it, or that no sample has shown the queue yet. */
export function OffsetFigure({ offset }: { offset: string | null }) {
  return offset === null ? <Figure reading={notCollected} format={String} /> : formatInt64(offset);
}
