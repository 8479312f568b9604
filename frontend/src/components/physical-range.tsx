import { useTranslation } from 'react-i18next';
import { formatInt64 } from '@/lib/format';
import type { SegmentBoxData } from './segments';

/** The offsets of a segment in its physical queue; nothing where a move chooses them later. */
export function PhysicalRange({ segment }: { segment: SegmentBoxData }) {
  const { t } = useTranslation();
  const { physicalStart, physicalEnd } = segment;
  if (physicalStart === null) return null;
  return t('segments.range', {
    start: formatInt64(physicalStart),
    end: physicalEnd === null ? t('segments.open') : formatInt64(physicalEnd),
  });
}
