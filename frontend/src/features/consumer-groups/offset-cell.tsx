import { useTranslation } from 'react-i18next';
import { Figure } from '@/components/figure';
import { formatInt64 } from '@/lib/format';
import { unknown } from '@/lib/reading';
import type { ConsumerQueue } from './consumer-group';
import { QueueLag } from './queue-lag';

type OffsetCellProps = {
  queue: ConsumerQueue;
  id: 'committed' | 'end' | 'lag';
  isBroadcasting: boolean;
};

/** An offset of a queue or its lag; of a group that broadcasts a broker keeps neither. */
export function OffsetCell({ queue, id, isBroadcasting }: OffsetCellProps) {
  const { t } = useTranslation();
  const value = queue[id];
  if (value !== null) return id === 'lag' ? <QueueLag queue={queue} /> : formatInt64(value);
  if (isBroadcasting) return '–';
  if (id === 'committed') return t('groupLag.never');
  return <Figure reading={unknown} format={String} />;
}
