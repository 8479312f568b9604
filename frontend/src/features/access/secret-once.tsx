import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Notice } from '@/components/notice';
import classes from './access-form.module.css';

type SecretOnceProps = { label: string; secret: string; hint: string; onDone: () => void };

/** Shows a secret that is not to be had again; a browser without a clipboard has it selected. */
export function SecretOnce({ label, secret, hint, onDone }: SecretOnceProps) {
  const { t } = useTranslation();
  const [isCopied, setIsCopied] = useState(false);
  const copy = () => void navigator.clipboard.writeText(secret).then(() => setIsCopied(true));
  return (
    <div className={classes.form}>
      <Notice tone="warn" title={t('secret.once')}>
        {hint}
      </Notice>
      <TextInput
        label={label}
        value={secret}
        readOnly
        data-autofocus
        classNames={{ input: classes.secret ?? '' }}
        onFocus={(event) => event.currentTarget.select()}
      />
      <div className={classes.end}>
        {'clipboard' in navigator ? (
          <Button variant="default" onClick={copy}>
            {t(isCopied ? 'secret.copied' : 'secret.copy')}
          </Button>
        ) : null}
        <Button onClick={onDone}>{t('secret.done')}</Button>
      </div>
    </div>
  );
}
