import { SegmentedControl } from '@mantine/core';
import { useTranslation } from 'react-i18next';

export type SegmentsView = 'strip' | 'table';

type SegmentsAsProps = { view: SegmentsView; onView: (view: SegmentsView) => void };

/** Whether segments are drawn or listed. */
export function SegmentsAs({ view, onView }: SegmentsAsProps) {
  const { t } = useTranslation();
  return (
    <SegmentedControl<SegmentsView>
      aria-label={t('segments.view')}
      value={view}
      onChange={onView}
      data={[
        { value: 'strip', label: t('segments.asStrip') },
        { value: 'table', label: t('segments.asTable') },
      ]}
    />
  );
}
