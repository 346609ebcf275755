# closeread in an image of 60 MB with nothing else in it. `cargo xtask dist` makes the root file system:
#
#   cargo xtask dist && docker build --tag closeread --file Dockerfile target/artifacts
#   docker run --rm --user "$(id --user):$(id --group)" --volume "$PWD:/work" closeread run
#
# Without --user it runs as nobody in particular, who may not write into a folder of yours.
FROM scratch
ADD closeread-root.tar.gz /
USER 65532:65532
ENV HOME=/work CLOSEREAD_CACHE=/tmp/closeread SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
WORKDIR /work
ENTRYPOINT ["/usr/bin/closeread"]
