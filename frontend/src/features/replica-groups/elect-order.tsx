import { Checkbox, SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { WriteButton } from '@/components/write-button';
import type { ElectionMode } from '@/gql/operations';

type ElectOrderProps = {
  mode: ElectionMode;
  isBusy: boolean;
  onMode: (mode: ElectionMode) => void;
  onPlan: (acceptsLoss: boolean) => void;
};

/** Says how to elect, and has the election planned; nothing happens before that is confirmed. */
export function ElectOrder({ mode, isBusy, onMode, onPlan }: ElectOrderProps) {
  const { t } = useTranslation();
  const [acceptsLoss, setAcceptsLoss] = useState(false);
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
      <Checkbox
        label={t('elect.acceptsLoss')}
        checked={acceptsLoss}
        onChange={(event) => setAcceptsLoss(event.currentTarget.checked)}
      />
      <WriteButton onClick={() => onPlan(acceptsLoss)} loading={isBusy}>
        {t('elect.plan')}
      </WriteButton>
    </>
  );
}
