import { Figure } from '@/components/figure';
import type { SampleFieldsFragment } from '@/gql/operations';
import { staleAfterMs } from '@/lib/intervals';
import { readingOf } from '@/lib/reading';
import { useNow } from '@/lib/use-now';
import type { BrokerView } from './broker-view';

type SampleFigureProps = {
  broker: BrokerView;
  pick: (sample: SampleFieldsFragment) => number | null;
  format: (value: number) => string;
  unit?: string;
};

/** One figure of a broker's newest sample, greyed once that is older than three intervals. */
export function SampleFigure({ broker, pick, format, unit }: SampleFigureProps) {
  const now = useNow();
  const { sample } = broker;
  const stale = sample !== null && now - Date.parse(sample.observedAt) > staleAfterMs;
  return (
    <Figure
      reading={readingOf(sample, pick)}
      format={format}
      stale={stale}
      {...(unit ? { unit } : {})}
    />
  );
}
