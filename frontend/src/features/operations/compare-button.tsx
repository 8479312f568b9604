import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Answered } from '@/components/answered';
import type { Comparison } from './use-standing';

/** When a plan's facts were last compared with those of now, and the way to do so once more. */
export function CompareButton({ comparison }: { comparison: Comparison }) {
  const { t } = useTranslation();
  const { atMs, isBusy, again } = comparison;
  return (
    <>
      {atMs > 0 ? (
        <span>
          {t('plan.compared')} <Answered bare atMs={atMs} staleMs={Number.POSITIVE_INFINITY} />
        </span>
      ) : null}
      <Button variant="default" onClick={again} loading={isBusy}>
        {t('plan.compare')}
      </Button>
    </>
  );
}
