import { useTranslation } from 'react-i18next';
import { formatInt64 } from '@/lib/format';
import type { SegmentBoxData } from './segments';

/** The logical offsets of a segment, from the first one to the one after its last message. */
export function LogicalRange({ segment }: { segment: SegmentBoxData }) {
  const { t } = useTranslation();
  const { logicalStart, end } = segment;
  if (logicalStart === null) return t('segments.undecided');
  return t('segments.range', {
    start: formatInt64(logicalStart),
    end: end === null ? t('segments.open') : formatInt64(end),
  });
}
