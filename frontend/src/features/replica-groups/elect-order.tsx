import { SegmentedControl } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { WriteButton } from '@/components/write-button';
import type { ElectionMode } from '@/gql/operations';

type ElectOrderProps = {
  mode: ElectionMode;
  isBusy: boolean;
  onMode: (mode: ElectionMode) => void;
  onPlan: () => void;
};

/** Says how to elect, and has the election planned; nothing happens before that is confirmed. */
export function ElectOrder({ mode, isBusy, onMode, onPlan }: ElectOrderProps) {
  const { t } = useTranslation();
  return (
    <>
      <SegmentedControl<ElectionMode>
        aria-label={t('elect.mode')}
        value={mode}
        onChange={onMode}
        data={[
          { value: 'GRACEFUL', label: t('elect.graceful') },
          { value: 'NOW', label: t('elect.now') },
        ]}
      />
      <WriteButton onClick={onPlan} loading={isBusy}>
        {t('elect.plan')}
      </WriteButton>
    </>
  );
}
