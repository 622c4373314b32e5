/// Does nothing.
void early(void);
