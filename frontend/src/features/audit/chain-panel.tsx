import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorNotice } from '@/components/error-notice';
import { Panel } from '@/components/panel';
import { verifyChain } from './audit-queries';
import classes from './chain-panel.module.css';
import { ChainVerdict } from './chain-verdict';
import type { Verification } from './verification';

/** Whether the record was changed: follows its chain of hashes when the user asks for it. */
export function ChainPanel() {
  const { t } = useTranslation();
  const [found, setFound] = useState<Verification>();
  const verify = useMutation({ mutationFn: () => verifyChain(setFound) });
  return (
    <Panel title={t('chain.title')}>
      <div className={classes.chain}>
        <div className={classes.verdict} role="status">
          {found ? <ChainVerdict found={found} /> : t('chain.lead')}
        </div>
        <Button
          variant="default"
          loading={verify.isPending}
          onClick={() => {
            setFound(undefined);
            verify.mutate();
          }}
        >
          {t('chain.verify')}
        </Button>
      </div>
      {verify.error ? <ErrorNotice error={verify.error} onRetry={() => verify.mutate()} /> : null}
    </Panel>
  );
}
