import { Figure } from '@/components/figure';
import { formatSpan } from '@/lib/format';
import { unknown } from '@/lib/reading';

/** How long ago a client was last heard; stock brokers do not report it for consumers. */
export function HeardFigure({ heardMs }: { heardMs: string | null }) {
  if (heardMs === null) return <Figure reading={unknown} format={String} />;
  return formatSpan(Number(heardMs));
}
